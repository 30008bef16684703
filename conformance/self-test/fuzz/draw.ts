/** Draws random defects, each of which is one alteration of the responses of one operation. */
import { type Random, seededRandom } from '../../../fixtures/base/random.ts';
import { type OperationId, operations } from '../../../fixtures/contract/operations.ts';
import { type RequirementId, requirements } from '../../../fixtures/contract/requirements/index.ts';
import { oneResponseOf } from '../alterations.ts';
import type { Defect } from '../defect.ts';
import type { Alteration, ViolatedLevel } from './alteration.ts';
import { bodyAlterations } from './body-alterations.ts';
import { errorAlterations } from './error-alterations.ts';
import { headerAlterations } from './header-alterations.ts';
import { memberAlterations } from './member-alterations.ts';
import { statusAlterations } from './status-alterations.ts';

/** Number of affected cases in the first run of a defect. */
const SAMPLE = 12;
const ID_DIGITS = 5;

/** The frequencies with which a defect alters the responses that it could alter. */
const frequencies = [
  { each: 1, says: 'always' },
  { each: 1, says: 'always' },
  { each: 2, says: 'every second time' },
  { each: 3, says: 'every third time' },
] as const;

/** A defect whose alteration was drawn at random, with what it alters. */
export interface FuzzDefect extends Defect {
  readonly kind: string;
  readonly operation: OperationId;
  readonly violatedLevel: ViolatedLevel;
}

const every = Object.keys(requirements) as [RequirementId, ...RequirementId[]];
const ids = Object.keys(operations) as OperationId[];

/**
 * Returns the first `count` defects of a seed. Each depends only on the seed and on its number, so
 * a larger `count` gives the same defects and more.
 */
export function randomDefects(count: number, seed: string): readonly FuzzDefect[] {
  const random = seededRandom(`fuzz/${seed}`);
  return Array.from({ length: count }, (_, index) => drawDefect(index + 1, random));
}

function drawDefect(number: number, seeded: Random): FuzzDefect {
  const random = seeded.stream(String(number));
  const pool = everyAlteration();
  const kind = oneOf([...pool.keys()], random);
  const alterations: AlterationsOfKind = pool.get(kind) ?? new Map();
  const operation = oneOf([...alterations.keys()], random);
  const alteration = oneOf(alterations.get(operation) ?? [], random);
  const { each, says } = oneOf(frequencies, random);
  const { violatedLevel, about } = alteration;
  return {
    id: `fuzz-${String(number).padStart(ID_DIGITS, '0')}`,
    title: `The operation ${operation} answers ${alteration.says}, ${says}.`,
    // A forbidden alteration counts as killed whatever requirement a case names.
    violates: violatedLevel === 'nothing' ? [about] : every,
    operations: [operation],
    alter: oneResponseOf(each, alteration.change),
    sample: SAMPLE,
    kind,
    operation,
    violatedLevel,
  };
}

function oneOf<Item>(items: readonly Item[], random: Random): Item {
  const item = items[random.integer(0, items.length - 1)];
  if (item === undefined) throw new Error('no alteration matches');
  return item;
}

type AlterationsOfKind = ReadonlyMap<OperationId, readonly Alteration[]>;
type AlterationPool = ReadonlyMap<string, AlterationsOfKind>;
let cachedPool: AlterationPool | undefined;

/** Groups alterations by kind and operation, so that rare kinds are drawn as often as others. */
function everyAlteration(): AlterationPool {
  if (cachedPool) return cachedPool;
  const pool = new Map<string, Map<OperationId, readonly Alteration[]>>();
  for (const id of ids) {
    for (const alteration of alterationsOf(id)) {
      const alterationsByOperation =
        pool.get(alteration.kind) ?? new Map<OperationId, readonly Alteration[]>();
      alterationsByOperation.set(id, [...(alterationsByOperation.get(id) ?? []), alteration]);
      pool.set(alteration.kind, alterationsByOperation);
    }
  }
  cachedPool = pool;
  return pool;
}

/** Returns every alteration of an operation's responses. */
export function alterationsOf(id: OperationId): readonly Alteration[] {
  const makers = [
    ...[memberAlterations, bodyAlterations, statusAlterations],
    ...[headerAlterations, errorAlterations],
  ];
  return makers.flatMap((make) => make(id, operations[id]));
}
