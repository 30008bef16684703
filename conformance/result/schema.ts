/**
 * The schema of a result for other programs: its shape, the JSON Schema derived from the shape, and
 * the reader of report files. Version `fleetbed-conformance/2` may get new fields, but the meaning
 * of existing fields does not change.
 */
import { toJsonSchema } from '@valibot/to-json-schema';
import * as v from 'valibot';
import { presentId } from '../suite/former-ids.ts';
import { reportedEntries } from '../suite/options.ts';
import { conformanceSchema, verdictNames } from './result.ts';

const text = v.string();
const texts = v.array(v.string());
const count = v.pipe(v.number(), v.integer(), v.minValue(0));
const yesOrNo = v.boolean();
const headers = v.record(v.string(), v.string());
const verdict = v.picklist(verdictNames);
/** Number of resources by kind. */
const resourceCounts = v.record(v.string(), count);

const exchange = v.pipe(
  v.object({
    startMs: count,
    request: v.object({
      line: text,
      headers,
      body: v.optional(text),
      bodyEncoding: v.optional(v.literal('latin1')),
      bodyBytes: v.optional(v.nullable(count)),
      signature: v.optional(
        v.object({
          header: text,
          keyType: v.picklist(['rsa', 'ecdsa', 'ed25519']),
          fits: yesOrNo,
        }),
      ),
      form: v.optional(
        v.object({
          fields: v.record(v.string(), v.string()),
          field: text,
          name: text,
          sizeBytes: count,
        }),
      ),
    }),
    response: v.optional(v.object({ status: count, headers, body: v.optional(text) })),
    failure: v.optional(text),
    elapsedMs: count,
  }),
  v.description('One request and its response. Times count from the start of the run.'),
);

const level = v.picklist(['must', 'should', 'may']);

const outcome = {
  verdict,
  reason: v.optional(v.object({ code: text, text, expected: v.optional(text) })),
  expected: v.optional(text),
  actual: v.optional(text),
  observation: v.optional(text),
  violated: v.optional(texts),
};

const waiver = { reason: text, owner: text, expires: text };

const caseVerdict = v.pipe(
  v.object({
    id: v.pipe(text, v.regex(/^[a-z-]+\/[a-z0-9-]+$/)),
    title: text,
    scenario: text,
    start: text,
    level,
    requirements: texts,
    covers: texts,
    needs: texts,
    effect: v.picklist(['read', 'write', 'disruptive']),
    ...outcome,
    sentences: texts,
    startedMs: count,
    durationMs: count,
    attempts: v.optional(v.array(v.object({ ...outcome, startedMs: count, durationMs: count }))),
    violations: v.optional(
      v.array(v.object({ requirements: texts, level, operation: text, text, exchange })),
    ),
    waiver: v.optional(v.object({ ...waiver, follows: v.optional(text) })),
    tolerated: v.optional(v.literal(true)),
    exchanges: v.optional(v.array(exchange)),
    exchangesDropped: v.optional(count),
    reproScript: v.optional(v.pipe(text, v.description('The repro script, for bash.'))),
    made: v.optional(resourceCounts),
    leftBehind: v.optional(texts),
  }),
  v.description('The verdict on one case, with the sentences of the requirements that it tests.'),
);

/** A complete result; `schema` is the version of the schema. */
const resultShape = v.pipe(
  v.object({
    schema: v.literal(conformanceSchema),
    suite: v.object({ name: text, version: text }),
    target: v.object({ baseUrl: text, headerPrefix: text }),
    runId: text,
    seed: text,
    settings: v.object({ selection: texts, ...reportedEntries() }),
    environment: v.object({ node: text, platform: text }),
    startedAt: text,
    durationMs: count,
    outcome: verdict,
    headline: v.optional(text),
    totals: v.object({
      fail: count,
      error: count,
      inconclusive: count,
      pass: count,
      observed: count,
      skip: count,
    }),
    waived: v.optional(count),
    musts: v.object({
      decided: count,
      undecided: count,
      undecidedMusts: v.array(v.object({ id: text, reason: text, code: v.optional(text) })),
    }),
    verdicts: v.array(caseVerdict),
    requirementsOnAllOperations: v.optional(
      v.array(
        v.object({
          requirement: text,
          operations: v.array(v.object({ operation: text, judged: count, violated: count })),
          unjudged: texts,
        }),
      ),
    ),
    readBacks: v.optional(
      v.array(
        v.object({ operation: text, judged: count, possibleStates: count, undecided: count }),
      ),
    ),
    capabilities: v.array(
      v.object({
        capability: text,
        declared: v.picklist(['offered', 'missing', 'undeclared']),
        probed: v.picklist(['offered', 'missing', 'unknown']),
        evidence: v.optional(text),
        contradiction: v.optional(text),
      }),
    ),
    openPoints: v.array(
      v.object({
        id: text,
        heading: text,
        question: text,
        reference: text,
        target: v.array(v.object({ caseId: text, verdict, text })),
      }),
    ),
    waivers: v.array(
      v.object({
        ...waiver,
        caseId: text,
        state: v.picklist(['used', 'not-decided', 'expired', 'obsolete']),
      }),
    ),
    unauthorized: v.optional(text),
    problems: v.array(v.object({ code: text, text })),
    made: resourceCounts,
    footprint: v.optional(v.object({ requests: count, userChanges: count })),
    leftBehind: texts,
  }),
  v.title('Result of a run of the Fleetbed conformance suite'),
  v.description('Version 2. Readers must accept unknown fields.'),
);

/** A result that was read from a file. */
export type StoredResult = v.InferOutput<typeof resultShape>;

/** The JSON Schema of a result, draft 7. */
export function resultSchema(): object {
  return { $id: 'urn:fleetbed:conformance:2', ...toJsonSchema(resultShape) };
}

/**
 * The file is not a report, or has another schema version. The message is the end of a sentence
 * that starts with the name of the file.
 */
export class ReportError extends Error {
  override readonly name = 'ReportError';
}

const anyReport = v.object({ schema: v.string() });

/** Parses a report. Throws a ReportError that describes the problem. */
export function readReport(json: string): StoredResult {
  const value = parseReportJson(json);
  const parsedReport = v.safeParse(anyReport, value);
  if (!parsedReport.success) throw new ReportError('is not a conformance report');
  const { schema } = parsedReport.output;
  if (schema !== conformanceSchema) {
    throw new ReportError(
      `is a report of schema ${schema}; this version reads ${conformanceSchema}`,
    );
  }
  const report = v.safeParse(resultShape, value, { abortEarly: true });
  if (report.success) return withPresentIds(report.output);
  const [issue] = report.issues;
  const where = v.getDotPath(issue) ?? 'the report';
  throw new ReportError(`is a damaged report: ${where} is not ${issue.expected ?? 'as described'}`);
}

function withPresentIds(report: StoredResult): StoredResult {
  return {
    ...report,
    verdicts: report.verdicts.map((each) => ({ ...each, id: presentId(each.id) })),
    waivers: report.waivers.map((each) => ({ ...each, caseId: presentId(each.caseId) })),
  };
}

function parseReportJson(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch (error) {
    throw new ReportError('is not JSON', { cause: error });
  }
}
