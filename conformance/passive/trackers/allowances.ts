/**
 * Behaviour that the trackers allow although a literal reading of the contract does not show it:
 * one row for each choice that the contract leaves to the server. Nothing else may differ.
 */
import type { RequirementId } from '../../../fixtures/contract/requirements/index.ts';

interface Allowance {
  /** The requirement that leaves the choice open; absent if the contract says nothing of it. */
  readonly requirement?: RequirementId;
  /** The allowed difference, as a sentence about the server. */
  readonly allows: string;
  /** The facts on which the server's choice may depend. */
  readonly dependsOn: 'server' | 'time' | 'request';
}

/** The allowances by ID. */
export const allowances = {
  'effects-settle': {
    allows: 'A read may show the state before a write for 5 s after its response.',
    dependsOn: 'time',
  },
  'effects-at-once': {
    allows: 'A read may show the effect of a write as soon as it is answered.',
    dependsOn: 'time',
  },
  'either-order': {
    allows: 'Writes at once may take effect in any order.',
    dependsOn: 'time',
  },
  'reads-beside-writes': {
    allows: 'A read during a write may show any part of its effect.',
    dependsOn: 'time',
  },
  'failed-writes-may-count': {
    allows: 'A write that got no response, or a server error, may have taken effect.',
    dependsOn: 'time',
  },
  'configuration.keeps-other-keys': {
    requirement: 'configuration.other-keys',
    allows: 'A request may keep the keys that it does not name.',
    dependsOn: 'server',
  },
  'configuration.drops-other-keys': {
    requirement: 'configuration.other-keys',
    allows: 'A request may remove the keys that it does not name.',
    dependsOn: 'server',
  },
  'configuration.users-may-replace': {
    allows: 'What a user sets may replace the keys that it does not name.',
    dependsOn: 'server',
  },
  'inventory.patch-keeps-descriptions': {
    requirement: 'inventory.patch-without-description',
    allows: 'PATCH without a description may keep the former one.',
    dependsOn: 'server',
  },
  'inventory.patch-drops-descriptions': {
    requirement: 'inventory.patch-without-description',
    allows: 'PATCH without a description may remove the former one.',
    dependsOn: 'server',
  },
  'inventory.either-of-a-name-twice': {
    requirement: 'inventory.name-twice',
    allows: 'Of two values of one name in a request, either may be kept.',
    dependsOn: 'request',
  },
  'log.open-after-the-abort': {
    requirement: 'log.after-the-abort',
    allows: 'A log that is uploaded after the abort may replace the former one or not.',
    dependsOn: 'server',
  },
  'map.default-is-left-out': {
    requirement: 'map.state-fields',
    allows: 'A state whose action is `continue` may be left out of a map.',
    dependsOn: 'server',
  },
} as const satisfies Readonly<Record<string, Allowance>>;

/** The ID of an allowance. */
export type AllowanceId = keyof typeof allowances;

/** Returns true if the trackers allow the choice; tests remove allowances one by one. */
export type Allows = (id: AllowanceId) => boolean;
