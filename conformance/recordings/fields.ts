/** Finds a deprecated field in the bodies of an exchange that may carry it. */
import { isRecord, type RecordedExchange } from './recording.ts';
import type { ScheduleRow } from './schedule.ts';

/** Parts of a form that are looked at. */
const PARTS_MAX = 1000;

/** `unseen` when the body that would hold the field was not recorded, or only in part. */
type Presence = 'there' | 'absent' | 'unseen';

/** Whether the field of a row is in an exchange. Of answers only those of success have it. */
export function fieldIn({ field = '', place }: ScheduleRow, exchange: RecordedExchange): Presence {
  if (place === 'form') return presence(formOf(exchange.requestBody()), field);
  if (place === 'body') return presence(jsonOf(exchange.requestBody()), field);
  const isSuccess = exchange.status >= 200 && exchange.status < 300;
  return isSuccess ? presence(jsonOf(exchange.responseBody()), field) : 'absent';
}

function presence(body: unknown, field: string): Presence {
  if (typeof body !== 'object' || body === null) return 'unseen';
  return resourcesOf(body).some((each) => isAt(each, field.split('.'))) ? 'there' : 'absent';
}

/** The objects of a body: itself or those of a list, and the artifacts that a release holds. */
function resourcesOf(body: object): readonly unknown[] {
  const objects = Array.isArray(body) ? body.filter(isRecord) : [body];
  return objects.flatMap((each) => [
    each,
    ...listAt(each, 'artifacts'),
    ...listAt(each, 'Artifacts'),
  ]);
}

/** Whether there is a value under a name such as `updates[].meta_data`, given in its steps. */
function isAt(value: unknown, [step, ...steps]: readonly string[]): boolean {
  if (step === undefined) return true;
  if (step.endsWith('[]'))
    return listAt(value, step.slice(0, -2)).some((each) => isAt(each, steps));
  return isRecord(value) && Object.hasOwn(value, step) && isAt(value[step], steps);
}

function listAt(value: unknown, name: string): readonly unknown[] {
  const found = isRecord(value) && Object.hasOwn(value, name) ? value[name] : undefined;
  return Array.isArray(found) ? found : [];
}

function jsonOf(body: unknown): unknown {
  if (typeof body !== 'string') return body;
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}

/** A form that is still in one piece, as an object of the names of its parts. */
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
