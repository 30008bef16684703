/** The corrected JSON body of a request. */
import * as v from 'valibot';
import { isObject } from '../../fixtures/base/json.ts';
import { describeMembers, memberNames } from '../../fixtures/base/shapes.ts';
import { managementOperations } from '../../fixtures/contract/management/index.ts';
import type { Operation } from '../../fixtures/contract/operation.ts';
import { readPublicKey } from '../crypto/public-key.ts';
import { correctedValue, markedAt } from './corrected-value.ts';
import { hasUnknownBody, jsonOf, type ReceivedRequest, textOf } from './received-request.ts';
import {
  bareMarkFor,
  type CommandText,
  jsonWithVariables,
  markFor,
  type VariableMeanings,
  withoutSecrets,
} from './text.ts';

/** The sent request, its status, and the place of the problem, such as `body.status`. */
interface InvalidBody {
  readonly request: ReceivedRequest;
  readonly status: number;
  readonly location: string;
  /** The expected value at that place. */
  readonly expected?: string | undefined;
}

/** A body, and the variables that the reader must set. */
export interface CorrectedBody {
  readonly text: CommandText;
  readonly needs: VariableMeanings;
  /** Set if the body equals the sent one except for secrets. */
  readonly isAsSent?: true;
  /** Set if the text is the name of a file that contains the body. */
  readonly isFile?: true;
}

/**
 * Returns the body to send. A valid body is returned unchanged, so that a signature over its bytes
 * stays correct; otherwise its problems are corrected or marked for the reader. Returns undefined
 * if the request needs no body.
 */
export function correctBody(operation: Operation, refused: InvalidBody): CorrectedBody | undefined {
  const { body: schema } = operation;
  const { request } = refused;
  if (!schema) return undefined;
  if (hasUnknownBody(request)) return refused.status === 413 ? askForSmallerBody(refused) : inFile;
  if (!request.body && operation.bodyOptional) return undefined;
  const text = textOf(request);
  const sentJson = request.body ? jsonOf(text) : { value: {} };
  if (operation.bodyOptional && sentJson && hasNoKnownMember(sentJson.value, schema))
    return undefined;
  const better = sentJson && correctedValue(schema, sentJson.value);
  // An empty body would be valid, but it would remove existing data.
  const isEmpty = !request.body && Object.keys(better?.needs ?? {}).length === 0;
  const isValidBody =
    request.body !== undefined && sentJson !== undefined && v.is(schema, sentJson.value);
  if (!better || isEmpty || (!isValidBody && hasOtherNumbers(text ?? ''))) {
    return askForCorrectedBody(refused, schema);
  }
  // The body has the right shape, but a rule says that it does nothing or too much.
  const concernsWholeBody =
    refused.location === 'body' && (refused.status === 400 || refused.status === 422);
  if (isValidBody && concernsWholeBody && !isDeployment(operation))
    return askForCorrectedBody(refused, schema);
  const needs = { ...better.needs };
  const ruled = isValidBody
    ? markRefusedValue(sentJson.value, { operation, schema, refused, needs })
    : better.value;
  const maskedValue = withoutSecrets(withVariables(ruled));
  const isUncorrected = isValidBody && ruled === sentJson.value && withVariables(ruled) === ruled;
  if (isUncorrected && maskedValue === sentJson.value)
    return { text: [text ?? ''], needs, isAsSent: true };
  const marked = jsonWithVariables(maskedValue);
  return { text: marked, needs, ...(isUncorrected && { isAsSent: true as const }) };
}

/**
 * Returns true if no member of the object belongs to this operation, as with credentials that
 * belong in a header.
 */
function hasNoKnownMember(value: unknown, schema: v.GenericSchema): boolean {
  const names = memberNames(schema);
  return isObject(value) && names.length > 0 && !names.some((name) => name in value);
}

const jsonString = /"(?:[^"\\]|\\.)*(?:"|$)/g;
const jsonNumber = /-?\d[\d.eE+-]*/g;

/** Returns true if parsing and writing the JSON text would change the spelling of a number. */
function hasOtherNumbers(text: string): boolean {
  const numbers = text.replace(jsonString, '').match(jsonNumber) ?? [];
  return numbers.some((number) => String(Number(number)) !== number);
}

const inFile: CorrectedBody = { text: [{ variable: 'BODY_FILE' }], needs: {}, isFile: true };

/** Asks the reader for a file with the body, because only the sender knows what was meant. */
function askForCorrectedBody(
  { expected, location }: InvalidBody,
  schema: v.GenericSchema,
): CorrectedBody {
  const memberTexts = location === 'body' ? (describeMembers(schema) ?? expected) : undefined;
  const explanation = memberTexts === undefined ? '' : `: ${memberTexts}`;
  return { ...inFile, needs: { BODY_FILE: `a file with the corrected body${explanation}` } };
}

function askForSmallerBody({ expected = 'less than was sent' }: InvalidBody): CorrectedBody {
  return { ...inFile, needs: { BODY_FILE: `a file with a smaller body: ${expected}` } };
}

interface BodyFacts {
  readonly operation: Operation;
  readonly schema: v.GenericSchema;
  readonly refused: InvalidBody;
  readonly needs: Record<string, string>;
}

/** Returns the value with a mark at a place that a rule refused although its shape is valid. */
function markRefusedValue(
  value: unknown,
  { operation, schema, refused, needs }: BodyFacts,
): unknown {
  const { status, location, expected } = refused;
  // Another user may be allowed to send the body unchanged.
  if (!isObject(value) || status === 403) return value;
  const [where, ...keys] = location.split('.');
  const isRefusedByRule = where === 'body' && (status === 400 || status === 409 || status === 422);
  // The correction never deploys to all devices, because the caller did not request that.
  if (isDeployment(operation) && (location === 'body.devices' || isUnclear(value))) {
    const devices =
      Array.isArray(value.devices) && keys[0] !== 'devices' ? value.devices : oneDevice;
    return { ...value, devices, all_devices: undefined };
  }
  if (!isRefusedByRule || keys.length === 0) return value;
  const marked = markedAt(schema, value, keys);
  const meaning = expected ?? (status === 409 ? 'a different one than was sent' : undefined);
  const form = marked.isText ? '' : ', as JSON';
  if (meaning !== undefined) needs[marked.variable] = meaning + form;
  return marked.value;
}

function isDeployment({ id }: Operation): boolean {
  return id === managementOperations['create-deployment'].id;
}

/** A list with one device, which the reader must name. */
const oneDevice = [markFor('device_id')];

/** Returns true if a deployment names devices and also asks for all devices, or does neither. */
function isUnclear(value: Readonly<Record<string, unknown>>): boolean {
  return 'devices' in value === (value.all_devices === true);
}

/**
 * Replaces an invalid public key, or a missing list of devices, by variables in the format that
 * they need.
 */
function withVariables(value: unknown): unknown {
  if (!isObject(value)) return value;
  const { pubkey, devices } = value;
  const isNoKey = typeof pubkey === 'string' && 'reason' in readPublicKey(pubkey);
  if (isNoKey) return { ...value, pubkey: markFor('PUBLIC_KEY') };
  return devices === bareMarkFor('devices') ? { ...value, devices: oneDevice } : value;
}
