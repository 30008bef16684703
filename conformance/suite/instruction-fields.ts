/**
 * The fields of deployment instructions as the contract's tables list them.
 * Spec: DeploymentInstructions (v1), DeploymentInstructions (v2)
 */
import type { RequirementId } from '../../fixtures/contract/requirements/index.ts';
import { isTimestamp } from '../../fixtures/contract/text.ts';
import { isObject } from '../context/instructions.ts';

/** The predicate for each type of a field, by the phrase that reports use for that type. */
export const instructionTypes = {
  'a string': (value: unknown) => typeof value === 'string',
  'an array of strings': (value: unknown) =>
    Array.isArray(value) && value.every((each) => typeof each === 'string'),
  'an object': isObject,
  'a date-time': (value: unknown) => typeof value === 'string' && isTimestamp(value),
  'an absolute URL': (value: unknown) =>
    typeof value === 'string' && URL.canParse(value) && /^https?:$/.test(new URL(value).protocol),
} as const;

/** One row of the contract's table. */
interface InstructionField {
  readonly field: string;
  readonly type: keyof typeof instructionTypes;
  readonly isRequired: boolean;
  readonly requirements: Readonly<Partial<Record<'v1' | 'v2', RequirementId>>>;
}

/** The fields of instructions; a test compares these rows with the tables of the contract. */
export const instructionFields: readonly InstructionField[] = [
  {
    field: 'id',
    type: 'a string',
    isRequired: true,
    requirements: { v1: 'next.v1-id', v2: 'next.v2-id' },
  },
  {
    field: 'artifact',
    type: 'an object',
    isRequired: true,
    requirements: { v1: 'next.v1-artifact', v2: 'next.v2-artifact' },
  },
  {
    field: 'artifact.id',
    type: 'a string',
    isRequired: false,
    requirements: { v1: 'next.v1-artifact-id' },
  },
  {
    field: 'artifact.artifact_name',
    type: 'a string',
    isRequired: true,
    requirements: { v1: 'next.v1-artifact-name', v2: 'next.v2-artifact-name' },
  },
  {
    field: 'artifact.source',
    type: 'an object',
    isRequired: true,
    requirements: { v1: 'next.v1-source', v2: 'next.v2-source' },
  },
  {
    field: 'artifact.source.uri',
    type: 'an absolute URL',
    isRequired: false,
    requirements: { v1: 'next.v1-source-uri', v2: 'next.v2-source-uri' },
  },
  {
    field: 'artifact.source.expire',
    type: 'a date-time',
    isRequired: false,
    requirements: { v1: 'next.v1-source-expire', v2: 'next.v2-source-expire' },
  },
  {
    field: 'artifact.device_types_compatible',
    type: 'an array of strings',
    isRequired: true,
    requirements: { v1: 'next.v1-device-types', v2: 'next.v2-device-types' },
  },
];
