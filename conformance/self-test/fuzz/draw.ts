/** Draws defects at random places: one alteration of the answers of one operation each. */
import { type OperationId, operations } from '../../../fixtures/contract/operations.ts';
import { type RequirementId, requirements } from '../../../fixtures/contract/requirements/index.ts';
import { type Random, seededRandom } from '../../../fixtures/random.ts';
import type { Defect, Mutation, ProxiedAnswer } from '../defect.ts';
import type { Alteration, Bond } from './alteration.ts';
import { bodyAlterations } from './body-alterations.ts';
import { errorAlterations } from './error-alterations.ts';
import { headerAlterations } from './header-alterations.ts';
import { memberAlterations } from './member-alterations.ts';
import { statusAlterations } from './status-alterations.ts';

/** Cases that are run with a defect at first, of all that it touches. */
const SAMPLE = 12;
const ID_DIGITS = 5;

/** How often an answer that could be altered is. */
const frequencies = [
  { each: 1, says: 'always' },
  { each: 1, says: 'always' },
  { each: 2, says: 'every second time' },
  { each: 3, says: 'every third time' },
] as const;

/** A defect that was drawn. */
export interface FuzzDefect extends Defect {
  readonly kind: string;
  readonly operation: OperationId;
  readonly bond: Bond;
}

const every = Object.keys(requirements) as [RequirementId, ...RequirementId[]];
const ids = Object.keys(operations) as OperationId[];

/**
 * The defects of a seed. Each depends on the seed and its number only, so that more of them begin
 * with the same ones.
 */
export function drawnDefects(count: number, seed: string): readonly FuzzDefect[] {
  const random = seededRandom(`fuzz/${seed}`);
  return Array.from({ length: count }, (_, index) => drawn(index + 1, random));
}

function drawn(number: number, seeded: Random): FuzzDefect {
  const random = seeded.stream(String(number));
  const operation = oneOf(ids, random);
  const pool = alterationsOf(operation);
  const kind = oneOf([...new Set(pool.map((each) => each.kind))], random);
  const alteration = oneOf(
    pool.filter((each) => each.kind === kind),
    random,
  );
  const { each, says } = oneOf(frequencies, random);
  const { bond, about } = alteration;
  return {
    id: `fuzz-${String(number).padStart(ID_DIGITS, '0')}`,
    title: `The operation ${operation} answers ${alteration.says}, ${says}.`,
    // Whatever requirement a case fails by, it has noticed.
    breaks: bond === 'nothing' ? [about] : every,
    operations: [operation],
    mutation: () => alteredEach(alteration, each),
    sample: SAMPLE,
    kind,
    operation,
    bond,
  };
}

function oneOf<Item>(items: readonly Item[], random: Random): Item {
  const item = items[random.integer(0, items.length - 1)];
  if (item === undefined) throw new Error('there is nothing to draw from');
  return item;
}

/** Alters the first of so many answers that have the place. */
function alteredEach({ change }: Alteration, each: number): Mutation {
  let seen = 0;
  return {
    answer: (answer, request): ProxiedAnswer => {
      const made = change(answer, request);
      if (made === answer) return answer;
      seen += 1;
      return each === 1 || seen % each === 1 ? made : answer;
    },
  };
}

const pools = new Map<OperationId, readonly Alteration[]>();

/** Every alteration of an operation's answers that can be drawn. */
export function alterationsOf(id: OperationId): readonly Alteration[] {
  const known = pools.get(id);
  if (known) return known;
  const makers = [
    ...[memberAlterations, bodyAlterations, statusAlterations],
    ...[headerAlterations, errorAlterations],
  ];
  const pool = makers.flatMap((make) => make(id, operations[id]));
  pools.set(id, pool);
  return pool;
}
