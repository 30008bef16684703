/** Finds a deprecated field in the bodies of an exchange. */
import { isRecord, type RecordedExchange } from './recording.ts';
import type { ScheduleRow } from './schedule.ts';

/** Maximum number of parts of a form that are searched. */
const PARTS_MAX = 1000;

/** `unseen`: the body that could have the field was not recorded, or only partly. */
type FieldPresence = 'there' | 'absent' | 'unseen';

/** Returns whether an exchange has the field of a row. Only successful responses can have one. */
export function fieldIn(
  { field = '', location }: ScheduleRow,
  exchange: RecordedExchange,
): FieldPresence {
  if (location === 'form') return presence(formOf(exchange.requestBody()), field);
  if (location === 'body') return presence(jsonOf(exchange.requestBody()), field);
  const isSuccess = exchange.status >= 200 && exchange.status < 300;
  return isSuccess ? presence(jsonOf(exchange.responseBody()), field) : 'absent';
}

function presence(body: unknown, field: string): FieldPresence {
  if (typeof body !== 'object' || body === null) return 'unseen';
  return resourcesOf(body).some((each) => isAt(each, field.split('.'))) ? 'there' : 'absent';
}

/** Returns the objects of a body: the body or its list entries, and the artifacts of releases. */
function resourcesOf(body: object): readonly unknown[] {
  const objects = Array.isArray(body) ? body.filter(isRecord) : [body];
  return objects.flatMap((each) => [
    each,
    ...listAt(each, 'artifacts'),
    ...listAt(each, 'Artifacts'),
  ]);
}

/** Returns true if a value exists at a path such as `updates[].meta_data`, split into steps. */
function isAt(value: unknown, [step, ...steps]: readonly string[]): boolean {
  if (step === undefined) return true;
  if (step.endsWith('[]'))
    return listAt(value, step.slice(0, -2)).some((each) => isAt(each, steps));
  return isRecord(value) && Object.hasOwn(value, step) && isAt(value[step], steps);
}

function listAt(value: unknown, name: string): readonly unknown[] {
  const member = isRecord(value) && Object.hasOwn(value, name) ? value[name] : undefined;
  return Array.isArray(member) ? member : [];
}

function jsonOf(body: unknown): unknown {
  if (typeof body !== 'string') return body;
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}

/** Returns a raw multipart form as an object with the names of its parts and empty values. */
function formOf(body: unknown): unknown {
  if (typeof body !== 'string') return body;
  const [, boundary] = /^\s*--([^\r\n]+)\r?\n/.exec(body) ?? [];
  if (boundary === undefined) return undefined;
  const names = body.split(`--${boundary}`, PARTS_MAX).flatMap((part) => {
    const [head = ''] = part.split(/\r?\n\r?\n/, 1);
    const [, name] = /^content-disposition:.*?;\s*name="?([^";\r\n]*)/im.exec(head) ?? [];
    return name === undefined ? [] : [[name, '']];
  });
  return Object.fromEntries(names);
}
