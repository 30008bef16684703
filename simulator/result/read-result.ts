/** The published format of a fleet's result: its JSON Schema and its parser. */
import { toJsonSchema } from '@valibot/to-json-schema';
import * as v from 'valibot';
import { printable } from '../../fixtures/base/printable.ts';
import { DurationHistogram } from './histograms.ts';
import { type FleetResult, fleetResultShape, fleetSchema } from './result.ts';

/** Returns the JSON Schema of a result. */
export function fleetResultSchema(): object {
  // JSON Schema needs no check for finite numbers, because all numbers in JSON are finite.
  const schema = toJsonSchema(fleetResultShape, { ignoreActions: ['finite'] });
  return { $id: 'urn:fleetbed:fleet:2', ...schema };
}

/**
 * Thrown for a file that is not a result or has another version. The message is a predicate that
 * follows the file name.
 */
export class ResultError extends Error {
  override readonly name = 'ResultError';
}

const anyReport = v.object({ schema: v.string() });
const anyFigures = v.object({ count: v.number(), maxMs: v.number(), histogram: v.string() });

/**
 * Parses a result and checks that every histogram in it can be read.
 * @throws ResultError with the reason
 */
export function readFleetResult(json: string): FleetResult {
  const value = parseJson(json);
  const parsing = v.safeParse(anyReport, value);
  if (!parsing.success) throw new ResultError('is not a result of fleetbed simulate');
  const { schema } = parsing.output;
  if (schema !== fleetSchema) {
    const schemaText = printable(schema, 60);
    throw new ResultError(`has the schema ${schemaText}; this command reads ${fleetSchema}`);
  }
  const result = v.safeParse(fleetResultShape, value, { abortEarly: true });
  if (!result.success) throw new ResultError(damage(result.issues[0]));
  checkHistograms(result.output);
  return result.output;
}

function parseJson(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch (error) {
    throw new ResultError('is not JSON', { cause: error });
  }
}

function damage(issue: v.BaseIssue<unknown>): string {
  const where = v.getDotPath(issue) ?? 'the result';
  return `is a damaged result: ${where} is not ${issue.expected ?? 'as described'}`;
}

/** Searches the whole value for histograms, so that new members of the format are checked too. */
function checkHistograms(value: unknown, path = ''): void {
  if (typeof value !== 'object' || value === null) return;
  const figures = v.safeParse(anyFigures, value);
  if (figures.success) checkHistogram(figures.output, path);
  for (const [name, part] of Object.entries(value)) {
    checkHistograms(part, path === '' ? name : `${path}.${name}`);
  }
}

function checkHistogram(figures: v.InferOutput<typeof anyFigures>, path: string): void {
  let durationCount: number;
  try {
    durationCount = DurationHistogram.of(figures).count;
  } catch (error) {
    const why = error instanceof Error ? error.message : 'a histogram cannot be read';
    throw new ResultError(`is a damaged result: ${path}.histogram: ${why}`, { cause: error });
  }
  if (durationCount === figures.count) return;
  const contradiction = `has ${durationCount} durations, but ${path}.count is ${figures.count}`;
  throw new ResultError(`is a damaged result: ${path}.histogram ${contradiction}`);
}
