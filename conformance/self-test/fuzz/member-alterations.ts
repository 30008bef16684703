/** Alterations of the members of successful responses, by the field tables of the contract. */
import type { Operation } from '../../../fixtures/contract/operation.ts';
import type { OperationId } from '../../../fixtures/contract/operations.ts';
import {
  fieldsOf,
  type ResourceField,
  tables,
} from '../../../fixtures/contract/resource-tables.ts';
import { answeredResources } from '../answered-resources.ts';
import {
  type Alteration,
  type AlteredPosition,
  aboutPart,
  alteredAt,
  jsonOfStatus,
  type ViolatedLevel,
  withoutMember,
} from './alteration.ts';
import { otherTypes, type ValueVariant, variantsOf } from './value-variants.ts';

const listPositions: readonly AlteredPosition[] = ['first', 'last', 'every'];
const STATUS = 200;

/** A member of the responses of an operation. */
interface Member {
  readonly id: OperationId;
  /** Path from the body; `*` is any entry of a list or map. */
  readonly steps: readonly string[];
  readonly field: ResourceField;
  /** The level that a response violates without the member; `unclear` if the contract does not say. */
  readonly absence: ViolatedLevel | 'unclear';
}

export function memberAlterations(id: OperationId, row: Operation): readonly Alteration[] {
  return membersOf(id, row).flatMap((member) => [
    ...absences(member),
    ...typeAlterations(member),
    ...variantsOf(member.steps, member.field, row).flatMap((variant) =>
      valueAlterations(member, variant),
    ),
  ]);
}

function membersOf(id: OperationId, row: Operation): readonly Member[] {
  const [name, to] = answeredResources[id] ?? [];
  const resource = tables.find((each) => each.name === name);
  if (resource === undefined || to === undefined) return [];
  return fieldsOf(resource).map((field) => {
    const fieldSteps = field.path.map((step) => (step === '[]' ? '*' : step));
    const steps = [...to, ...fieldSteps];
    return { id, steps, field, absence: absenceOf(steps, field, row) };
  });
}

/** Optional members that other sentences of the contract require nevertheless. */
const needed = [/update_control_map/, /^\*\.object\.(user|deployment|device)$/];

function absenceOf(
  steps: readonly string[],
  field: ResourceField,
  row: Operation,
): ViolatedLevel | 'unclear' {
  const path = steps.join('.');
  if (field.isRequired) return 'must';
  if (row.response?.removable?.includes(path)) return 'nothing';
  return needed.some((form) => form.test(path)) ? 'must' : 'unclear';
}

function absences(member: Member): readonly Alteration[] {
  const { absence: violatedLevel } = member;
  if (violatedLevel === 'unclear') return [];
  return [
    ...altered(member, { kind: 'member-missing', says: 'without', violatedLevel }, withoutMember),
    ...altered(
      member,
      { kind: 'member-renamed', says: 'with another name for', violatedLevel },
      (owner, name) => {
        const entries = Object.entries(owner);
        return Object.fromEntries(
          entries.map(([key, value]) => [key === name ? `${key}_` : key, value]),
        );
      },
    ),
  ];
}

function typeAlterations(member: Member): readonly Alteration[] {
  return otherTypes(member.field).flatMap(({ says, alter }) =>
    altered(
      member,
      { kind: 'member-of-another-type', says: `with ${says} as`, violatedLevel: 'must' },
      (owner, name) => ({
        ...owner,
        [name]: alter(owner[name]),
      }),
    ),
  );
}

function valueAlterations(
  member: Member,
  { kind, says, violatedLevel, alter }: ValueVariant,
): readonly Alteration[] {
  return altered(member, { kind, says: `with ${says}`, violatedLevel }, (owner, name) => ({
    ...owner,
    [name]: alter(owner[name]),
  }));
}

function altered(
  { id, steps }: Member,
  { kind, says, violatedLevel }: AlterationText,
  change: Parameters<typeof alteredAt>[3],
): readonly Alteration[] {
  const positions = steps.includes('*') ? listPositions : (['every'] as const);
  const path = `/${steps.join('/')}`;
  const ofList = steps[0] === '*' ? steps.slice(1) : steps;
  return positions.map((pick) => ({
    kind,
    says: `${says} ${path}${steps.includes('*') ? ` (${pick})` : ''}`,
    violatedLevel,
    about: aboutPart(id, 'body', ...ofList),
    change: jsonOfStatus(STATUS, (body) => alteredAt(body, steps, pick, change)),
  }));
}

type AlterationText = {
  readonly kind: string;
  readonly says: string;
  readonly violatedLevel: ViolatedLevel;
};
