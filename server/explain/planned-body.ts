/** The corrected JSON body of a request. */
import * as v from 'valibot';
import { managementOperations } from '../../fixtures/contract/management/index.ts';
import type { Operation } from '../../fixtures/contract/operation.ts';
import { isObject } from '../../fixtures/json.ts';
import { formOf, memberNames } from '../../fixtures/shapes.ts';
import { readPublicKey } from '../crypto/public-key.ts';
import { askedAt, correctedValue } from './corrected-value.ts';
import { hasUnknownBody, jsonOf, type ReceivedRequest, textOf } from './received-request.ts';
import {
  jsonWithVariables,
  markFor,
  type Needs,
  rawMarkFor,
  type Text,
  withoutSecrets,
} from './text.ts';

/** What was sent, how it was refused, and where it was wrong, such as `body.status`. */
interface FaultyBody {
  readonly asked: ReceivedRequest;
  readonly status: number;
  readonly place: string;
  /** What is expected at the place. */
  readonly expected?: string | undefined;
}

/** A body, with the variables that the reader must set. */
export interface PlannedBody {
  readonly text: Text;
  readonly needs: Needs;
  /** Set where it is what was sent, but for its secrets. */
  readonly isAsSent?: true;
  /** Set where the text is the name of the file with the body. */
  readonly isFile?: true;
}

/**
 * The body as it was sent when nothing in it was wrong, so that a signature over its bytes stays
 * right; else with what was wrong corrected or asked for. Nothing where none is needed.
 */
export function plannedBody(operation: Operation, faulty: FaultyBody): PlannedBody | undefined {
  const { body: schema } = operation;
  const { asked } = faulty;
  if (!schema) return undefined;
  if (hasUnknownBody(asked)) return faulty.status === 413 ? smaller(faulty) : inFile;
  if (!asked.body && operation.bodyOptional) return undefined;
  const text = textOf(asked);
  const given = asked.body ? jsonOf(text) : { value: {} };
  if (operation.bodyOptional && given && saysNothing(given.value, schema)) return undefined;
  const better = given && correctedValue(schema, given.value);
  // An empty body would be valid, and would remove what exists.
  const isEmpty = !asked.body && Object.keys(better?.needs ?? {}).length === 0;
  const isSound = asked.body !== undefined && given !== undefined && v.is(schema, given.value);
  if (!better || isEmpty || (!isSound && hasOtherNumbers(text ?? ''))) {
    return corrected(faulty, schema);
  }
  // A body in order, of which only a rule says that it does nothing or too much.
  const isOfWhole = faulty.place === 'body' && (faulty.status === 400 || faulty.status === 422);
  if (isSound && isOfWhole && !isDeployment(operation)) return corrected(faulty, schema);
  const needs = { ...better.needs };
  const ruled = isSound
    ? improved(given.value, { operation, schema, faulty, needs })
    : better.value;
  const shown = withoutSecrets(inOwnForm(ruled));
  const ofSound = isSound && ruled === given.value && inOwnForm(ruled) === ruled;
  if (ofSound && shown === given.value) return { text: [text ?? ''], needs, isAsSent: true };
  const marked = jsonWithVariables(shown);
  return { text: marked, needs, ...(ofSound && { isAsSent: true as const }) };
}

/** Whether nothing in an object is for this operation, as credentials that belong into a header. */
function saysNothing(value: unknown, schema: v.GenericSchema): boolean {
  const names = memberNames(schema);
  return isObject(value) && names.length > 0 && !names.some((name) => name in value);
}

const jsonString = /"(?:[^"\\]|\\.)*(?:"|$)/g;
const jsonNumber = /-?\d[\d.eE+-]*/g;

/** Whether a JSON text has numbers that would be written otherwise once they were read. */
function hasOtherNumbers(text: string): boolean {
  const numbers = text.replace(jsonString, '').match(jsonNumber) ?? [];
  return numbers.some((number) => String(Number(number)) !== number);
}

const inFile: PlannedBody = { text: [{ variable: 'BODY_FILE' }], needs: {}, isFile: true };

/** Where only the sender knows what was meant. */
function corrected({ expected, place }: FaultyBody, schema: v.GenericSchema): PlannedBody {
  const whole = place === 'body' ? (formOf(schema) ?? expected) : undefined;
  const what = whole === undefined ? '' : `: ${whole}`;
  return { ...inFile, needs: { BODY_FILE: `a file with the corrected body${what}` } };
}

function smaller({ expected = 'less than was sent' }: FaultyBody): PlannedBody {
  return { ...inFile, needs: { BODY_FILE: `a file with a smaller body: ${expected}` } };
}

interface Facts {
  readonly operation: Operation;
  readonly schema: v.GenericSchema;
  readonly faulty: FaultyBody;
  readonly needs: Record<string, string>;
}

/** The value with a mark where a rule refused it that no shape expresses. */
function improved(value: unknown, { operation, schema, faulty, needs }: Facts): unknown {
  const { status, place, expected } = faulty;
  // Another user may send it as it is.
  if (!isObject(value) || status === 403) return value;
  const [where, ...keys] = place.split('.');
  const isOfRule = where === 'body' && (status === 400 || status === 409 || status === 422);
  // Never all of them, which the caller did not request.
  if (isDeployment(operation) && (place === 'body.devices' || isUnclear(value))) {
    const devices =
      Array.isArray(value.devices) && keys[0] !== 'devices' ? value.devices : oneDevice;
    return { ...value, devices, all_devices: undefined };
  }
  if (!isOfRule || keys.length === 0) return value;
  const asked = askedAt(schema, value, keys);
  const meaning = expected ?? (status === 409 ? 'a different one than was sent' : undefined);
  const form = asked.isText ? '' : ', as JSON';
  if (meaning !== undefined) needs[asked.variable] = meaning + form;
  return asked.value;
}

function isDeployment({ id }: Operation): boolean {
  return id === managementOperations['create-deployment'].id;
}

/** The device is the reader's to name. */
const oneDevice = [markFor('device_id')];

/** Whether a deployment is for devices that are named and for all, or for none of both. */
function isUnclear(value: Readonly<Record<string, unknown>>): boolean {
  return 'devices' in value === (value.all_devices === true);
}

/** Without a list of devices, or with a public key that is none, each is asked for in its own form. */
function inOwnForm(value: unknown): unknown {
  if (!isObject(value)) return value;
  const { pubkey, devices } = value;
  const isNoKey = typeof pubkey === 'string' && 'because' in readPublicKey(pubkey);
  if (isNoKey) return { ...value, pubkey: markFor('PUBLIC_KEY') };
  return devices === rawMarkFor('devices') ? { ...value, devices: oneDevice } : value;
}
