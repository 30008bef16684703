/** The JSON body of a request as it should have been. */
import * as v from 'valibot';
import { managementOperations } from '../../../fixtures/contract/management/index.ts';
import type { Operation } from '../../../fixtures/contract/operation.ts';
import { isObject } from '../../../fixtures/json.ts';
import { memberNames, shapeAt } from '../../../fixtures/shapes.ts';
import { readPublicKey } from '../../crypto/public-key.ts';
import { isSecretName } from '../../http/masking.ts';
import { type Asked, jsonOf, textOf } from './asked.ts';
import { exampleOf, mended } from './example.ts';
import { markFor, type Text, textWithVariables, withoutSecrets } from './text.ts';

/** What was sent, how it was refused, and where it was wrong, such as `body.status`. */
interface FaultyBody {
  readonly asked: Asked;
  readonly status: number;
  readonly place: string;
}

type Members = ReadonlyMap<string, unknown>;

/** The public key of the reader. */
const ownPublicKey = markFor('PUBLIC_KEY');

/**
 * The body as it was sent when nothing in it was wrong, so that a signature over its bytes stays
 * right; else with what was wrong replaced, or an example. Nothing where none is needed.
 */
export function plannedBody(
  operation: Operation,
  schema: v.GenericSchema,
  faulty: FaultyBody,
): Text | undefined {
  const text = textOf(faulty.asked);
  if (text === undefined && operation.bodyOptional) return undefined;
  const given = jsonOf(text);
  const isSound = given !== undefined && v.is(schema, given.value);
  const value = given ? mended(schema, given.value) : exampleOf(schema);
  const better = improved(value, { operation, schema, faulty, isSound });
  const shown = withoutSecrets(better);
  const isAsSent = isSound && shown === value;
  return isAsSent ? [text ?? ''] : textWithVariables(JSON.stringify(shown));
}

interface Facts {
  readonly operation: Operation;
  readonly schema: v.GenericSchema;
  readonly faulty: FaultyBody;
  /** True when the body fitted its shape, so that a rule refused it. */
  readonly isSound: boolean;
}

/** The value corrected by rules that no shape expresses; the same value when none applies. */
function improved(value: unknown, facts: Facts): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  const members = new Map<string, unknown>(Object.entries(value));
  const changed = new Map(members);
  for (const [name, better] of changesTo(members, facts)) {
    if (better === undefined) changed.delete(name);
    else changed.set(name, better);
  }
  const isSame =
    changed.size === members.size &&
    [...changed].every(([name, one]) => one === members.get(name) && members.has(name));
  return isSame ? value : Object.fromEntries(changed);
}

function changesTo(members: Members, facts: Facts): Map<string, unknown> {
  const [where, name = ''] = facts.faulty.place.split('.');
  const changes = new Map<string, unknown>();
  // Another user may send it as it is.
  if (facts.faulty.status === 403) return changes;
  const isOfRule = facts.isSound && where === 'body' && members.has(name);
  if (isOfRule && !isSecretName(name)) {
    changes.set(name, otherValue(facts, name, members.get(name)));
  }
  const pubkey = members.get('pubkey');
  if (typeof pubkey === 'string' && 'because' in readPublicKey(pubkey)) {
    changes.set('pubkey', ownPublicKey);
  }
  // The whole body is in order, and changes nothing.
  if (facts.isSound && facts.faulty.place === 'body') {
    for (const [key, one] of firstMember(facts.schema)) changes.set(key, one);
  }
  const isDeployment = facts.operation.id === managementOperations['create-deployment'].id;
  const isUnclear = members.has('devices') === (members.get('all_devices') === true);
  // Never all of them, which nobody has asked for.
  if (isDeployment && (name === 'devices' || (facts.isSound && isUnclear))) {
    changes.set('devices', devicesOf(facts, name)).set('all_devices', undefined);
  }
  return changes;
}

/** The one device that was named without a list, or those that were not what was wrong. */
function devicesOf({ faulty }: Facts, wrong: string): unknown {
  const body = jsonOf(textOf(faulty.asked))?.value;
  const sent = isObject(body) ? body.devices : undefined;
  if (typeof sent === 'string' && sent !== '') return [sent];
  return Array.isArray(sent) && wrong !== 'devices' ? sent : [markFor('device_id')];
}

/** The first member that a shape has, with an example; none for other shapes. */
function firstMember(schema: v.GenericSchema): readonly (readonly [string, unknown])[] {
  return memberNames(schema)
    .slice(0, 1)
    .flatMap((name) => {
      const shape = shapeAt(schema, [name]);
      const example = shape && exampleOf(shape, name);
      const needed = shape && example === undefined ? markFor(name) : example;
      return needed === undefined ? [] : [[name, needed] as const];
    });
}

/** Replaces a value that a rule refused: by another name, by none where optional, or an example. */
function otherValue({ schema, faulty }: Facts, name: string, given: unknown): unknown {
  if (faulty.status === 409) return typeof given === 'string' ? `${given}-2` : given;
  const shape = shapeAt(schema, [name]);
  const isRule = faulty.status === 400 || faulty.status === 422;
  if (!shape || !isRule) return given;
  return v.is(shape, undefined) ? undefined : exampleOf(shape, name);
}
