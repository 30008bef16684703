/** The form of a fleet's result as other programs read it: its JSON Schema, and the reader of files. */
import { toJsonSchema } from '@valibot/to-json-schema';
import * as v from 'valibot';
import { printable } from '../../fixtures/printable.ts';
import { DurationHistogram } from './histograms.ts';
import { type FleetResult, fleetResultShape, fleetSchema } from './result.ts';

/** The JSON Schema of a result. */
export function fleetResultSchema(): object {
  // Numbers of JSON are finite anyway.
  const schema = toJsonSchema(fleetResultShape, { ignoreActions: ['finite'] });
  return { $id: 'urn:fleetbed:fleet:2', ...schema };
}

/** A file that is no result, or one of another version; the message is the rest of a sentence. */
export class ResultFault extends Error {
  override readonly name = 'ResultFault';
}

const anyReport = v.object({ schema: v.string() });
const anyFigures = v.object({ count: v.number(), maxMs: v.number(), histogram: v.string() });

/**
 * The result that a text holds; every histogram in it can be read, too.
 * @throws ResultFault that says what is wrong with it
 */
export function readFleetResult(json: string): FleetResult {
  const value = parsed(json);
  const named = v.safeParse(anyReport, value);
  if (!named.success) throw new ResultFault('is no result of a fleet');
  const { schema } = named.output;
  if (schema !== fleetSchema) {
    const said = printable(schema, 60);
    throw new ResultFault(`is a report of the form ${said}; this command reads ${fleetSchema}`);
  }
  const result = v.safeParse(fleetResultShape, value, { abortEarly: true });
  if (!result.success) throw new ResultFault(damage(result.issues[0]));
  checkHistograms(result.output);
  return result.output;
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch (error) {
    throw new ResultFault('is no JSON', { cause: error });
  }
}

function damage(issue: v.BaseIssue<unknown>): string {
  const where = v.getDotPath(issue) ?? 'the result';
  return `is a damaged result: ${where} is not ${issue.expected ?? 'as described'}`;
}

/** Looks for histograms everywhere, so that no place is forgotten when the form grows. */
function checkHistograms(value: unknown, path = ''): void {
  if (typeof value !== 'object' || value === null) return;
  const figures = v.safeParse(anyFigures, value);
  if (figures.success) checkHistogram(figures.output, path);
  for (const [name, part] of Object.entries(value)) {
    checkHistograms(part, path === '' ? name : `${path}.${name}`);
  }
}

function checkHistogram(figures: v.InferOutput<typeof anyFigures>, path: string): void {
  let counted: number;
  try {
    counted = DurationHistogram.of(figures).count;
  } catch (error) {
    const why = error instanceof Error ? error.message : 'a histogram cannot be read';
    throw new ResultFault(`is a damaged result: ${path}.histogram: ${why}`, { cause: error });
  }
  if (counted === figures.count) return;
  const said = `holds ${counted} durations, not the ${figures.count} of ${path}.count`;
  throw new ResultFault(`is a damaged result: ${path}.histogram ${said}`);
}
