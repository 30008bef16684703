/** Rules on deployments: what is offered, what reports do, what is over. Spec: Device deployments */
import * as v from 'valibot';
import { statusRequirements } from '../../fixtures/contract/requirements/deployment-status.ts';
import type { RequirementId } from '../../fixtures/contract/requirements/index.ts';
import { deploymentStatusShape } from '../../fixtures/contract/resources.ts';
import { isTimestamp } from '../../fixtures/contract/text.ts';
import { fieldIn, isObject, textIn } from '../context/instructions.ts';
import { instructionFields, instructionForms } from '../suite/instruction-fields.ts';
import {
  expectEqual,
  expectStatus,
  expectThat,
  shown,
  shownAnswer,
} from '../target/expectations.ts';
import { membersOf } from '../target/json-members.ts';
import { type OfferedDeployment, type Seen, SOURCE } from './observed.ts';
import { isWronglyRefused, succeedsWith, type WatchRule } from './rule.ts';

const asking = ['get-next-deployment', 'post-next-deployment', 'post-next-deployment-v2'] as const;
const askingV1 = ['get-next-deployment', 'post-next-deployment'] as const;
const askingV2 = ['post-next-deployment-v2'] as const;

function isInstructed({ status, received }: Seen): boolean {
  return status === 200 && isObject(received);
}

/** Bodies by which servers say that there is nothing, in place of a 204. */
const nothings = ['', 'null', '{}', '[]'];

const fieldRules: readonly WatchRule[] = instructionFields.flatMap(
  ({ field, form, isRequired, requirements: { v1, v2 } }) => {
    const rows = [
      [askingV1, v1],
      [askingV2, v2],
    ] as const;
    return rows.flatMap(([operations, requirement]) => {
      if (requirement === undefined) return [];
      return {
        requirement,
        operations,
        applies: isInstructed,
        expect: ({ received }) => {
          const value = fieldIn(membersOf(received), field);
          if (value === undefined && !isRequired) return;
          expectThat(
            instructionForms[form](value),
            `${field} as ${form}`,
            `${field}: ${shown(value)}`,
          );
        },
      } satisfies WatchRule;
    });
  },
);

function areInstructions(
  requirement: RequirementId,
  operations: WatchRule['operations'],
): WatchRule {
  return {
    requirement,
    operations,
    applies: ({ status, answer }) => status === 200 && !nothings.includes(answer.text.trim()),
    expect: ({ answer, received }) =>
      expectThat(isObject(received), 'a JSON object', shownAnswer(answer)),
  };
}

function pendingIs200(
  requirement: RequirementId,
  operation: WatchRule['operations'][number],
): WatchRule {
  return {
    requirement,
    operations: [operation],
    applies: ({ isSuccess, received }) => isSuccess && isObject(membersOf(received).artifact),
    expect: ({ answer }) => expectStatus(answer, 200),
  };
}

/** A request of this form, with these keys, is not refused as malformed. */
function keysSuffice(
  requirement: RequirementId,
  operation: WatchRule['operations'][number],
  areSuch: (keys: number) => boolean,
): WatchRule {
  return {
    requirement,
    operations: [operation],
    applies: (seen) => {
      const { device_provides: provides = seen.sent } = membersOf(seen.sent);
      const isJudged = seen.status === 200 || seen.status === 204 || isWronglyRefused(seen);
      return isJudged && areSuch(Object.keys(membersOf(provides)).length);
    },
    expect: ({ answer }) => expectStatus(answer, 200, 204),
  };
}

/** Deployments that were over, in this sense, before the device asked. */
function overBefore(
  { device, exchange }: Seen,
  overMs: (deployment: OfferedDeployment) => number | undefined,
): readonly string[] {
  return [...device.deployments].flatMap(([id, deployment]) => {
    const atMs = overMs(deployment);
    return atMs !== undefined && atMs <= exchange.sentMs ? [id] : [];
  });
}

function isOverOnce(
  requirement: RequirementId,
  how: string,
  overMs: (deployment: OfferedDeployment) => number | undefined,
): WatchRule {
  return {
    requirement,
    operations: asking,
    applies: (seen) => {
      const isAnswered = seen.status === 204 || isInstructed(seen);
      return isAnswered && overBefore(seen, overMs).length > 0;
    },
    expect: (seen) => {
      const { id } = membersOf(seen.received);
      const isOffered = overBefore(seen, overMs).some((over) => over === id);
      expectThat(
        !isOffered,
        `deployment ${shown(id)} no longer to be offered, since ${how}`,
        'it is offered again',
      );
    },
  };
}

function finishedMs({ recorded }: OfferedDeployment): number | undefined {
  const isOver = recorded?.status === 'success' || recorded?.status === 'failure';
  return isOver ? recorded.atMs : undefined;
}

const askingRules: readonly WatchRule[] = [
  {
    requirement: 'next.nothing-is-204',
    operations: asking,
    applies: ({ isSuccess, hasWholeBody, answer }) =>
      isSuccess && hasWholeBody && nothings.includes(answer.text.trim()),
    expect: ({ answer }) => expectStatus(answer, 204),
  },
  pendingIs200('next.get-pending-is-200', 'get-next-deployment'),
  pendingIs200('next.post-pending-is-200', 'post-next-deployment'),
  pendingIs200('next.v2-pending-is-200', 'post-next-deployment-v2'),
  keysSuffice('next.get-parameters', 'get-next-deployment', () => true),
  keysSuffice('next.post-keys', 'post-next-deployment', (keys) => keys <= 2),
  keysSuffice('next.free-pairs', 'post-next-deployment', (keys) => keys > 2),
  keysSuffice('next.v2-keys', 'post-next-deployment-v2', (keys) => keys <= 2),
  keysSuffice('next.v2-free-pairs', 'post-next-deployment-v2', (keys) => keys > 2),
  areInstructions('next.instructions-v1', askingV1),
  areInstructions('next.instructions-v2', askingV2),
  ...fieldRules,
  {
    requirement: 'next.source-expires-later',
    operations: asking,
    applies: isInstructed,
    expect: (seen) => {
      const instructions = membersOf(seen.received);
      if (fieldIn(instructions, 'artifact.source.expire') === undefined) return;
      const expire = textIn(instructions, 'artifact.source.expire');
      // Whether it is a date-time at all is another requirement.
      const isLater = !isTimestamp(expire) || Date.parse(expire) > seen.serverNowMs;
      expectThat(isLater, 'a later time', shown(expire));
    },
  },
  {
    requirement: 'next.control-map-id',
    operations: askingV2,
    applies: (seen) =>
      isInstructed(seen) &&
      isObject(membersOf(membersOf(seen.received).artifact).update_control_map),
    expect: ({ received }) => {
      const instructions = membersOf(received);
      const id = fieldIn(instructions, 'artifact.update_control_map.id');
      expectEqual('id of the map', id, instructions.id);
    },
  },
  isOverOnce('next.finished-is-over', 'its end was reported and accepted', finishedMs),
  isOverOnce('next.aborted-is-over', 'a report was answered 409', ({ abortedMs }) => abortedMs),
];

function deploymentOf(seen: Seen): OfferedDeployment | undefined {
  return seen.device.deployments.get(seen.deploymentId);
}

/** The way of an update; none of its steps needs the ones before it. */
const way: readonly unknown[] = [
  'downloading',
  'pause_before_installing',
  'installing',
  'pause_before_rebooting',
  'rebooting',
  'pause_before_committing',
];
const ends: readonly unknown[] = ['success', 'failure'];

/**
 * Whether the report must be taken whatever the order of statuses is, which is left open: it is the
 * first one, says what the server has recorded, or goes on on the way to an end.
 */
function isInOrder(seen: Seen): boolean {
  const { reports = 1, recorded } = deploymentOf(seen) ?? {};
  const { status } = membersOf(seen.sent);
  if (reports === 0 || recorded?.status === status) return true;
  const at = way.indexOf(recorded?.status);
  return at >= 0 && (ends.includes(status) || way.indexOf(status) > at);
}

/** Valid reports that were taken, and those that should have been. */
function isTakenOrRefused(seen: Seen): boolean {
  if (!v.is(deploymentStatusShape, seen.sent)) return false;
  return seen.isSuccess || (seen.status === 400 && isInOrder(seen));
}

function accepts(
  requirement: RequirementId,
  isSuch: (report: v.InferOutput<typeof deploymentStatusShape>, seen: Seen) => boolean,
): WatchRule {
  return {
    requirement,
    operations: ['put-deployment-status'],
    applies: (seen) =>
      isTakenOrRefused(seen) &&
      isSuch(seen.sent as v.InferOutput<typeof deploymentStatusShape>, seen),
    expect: ({ answer }) =>
      expectThat(answer.status !== 400, 'the report to be accepted', shownAnswer(answer)),
  };
}

const reportRules: readonly WatchRule[] = [
  {
    requirement: 'status.is-204',
    operations: ['put-deployment-status'],
    applies: ({ isSuccess }) => isSuccess,
    expect: ({ answer }) => expectStatus(answer, 204),
  },
  accepts('status.each-value-is-accepted', () => true),
  ...Object.entries(statusRequirements).map(([name, requirement]) =>
    accepts(requirement, ({ status }) => status === name),
  ),
  accepts('status.substate', ({ substate }) => substate !== undefined),
  accepts('status.substate-is-optional', ({ substate }) => substate === undefined),
  accepts('status.repeated', ({ status }, seen) => deploymentOf(seen)?.recorded?.status === status),
  {
    requirement: 'status.aborted-is-409',
    operations: ['put-deployment-status'],
    applies: (seen) => {
      const { abortedMs = Number.POSITIVE_INFINITY } = deploymentOf(seen) ?? {};
      return abortedMs <= seen.exchange.sentMs && (seen.isSuccess || seen.status === 409);
    },
    expect: ({ answer }) => expectStatus(answer, 409),
  },
  {
    requirement: 'next.v2-id-is-usable',
    operations: ['put-deployment-status'],
    applies: (seen) => {
      const { operation, reports } = deploymentOf(seen) ?? {};
      const isFirst = operation === 'post-next-deployment-v2' && reports === 0;
      return isFirst && (seen.isSuccess || seen.status === 404 || seen.status === 409);
    },
    expect: ({ answer }) =>
      expectThat(answer.status !== 404, 'a deployment of that id', shownAnswer(answer)),
  },
  succeedsWith(204, 'put-deployment-log', 'log.is-accepted'),
];

function mapIn({ status, received }: Seen): Readonly<Record<string, unknown>> | undefined {
  const map = status === 200 ? membersOf(received).update_control_map : undefined;
  return isObject(map) ? map : undefined;
}

const mapRules: readonly WatchRule[] = [
  {
    requirement: 'map.is-wrapped',
    operations: ['get-update-control-map'],
    applies: ({ status, received }) =>
      status === 200 && membersOf(received).update_control_map !== undefined,
    expect: (seen) =>
      expectThat(mapIn(seen) !== undefined, 'a map in an object', shownAnswer(seen.answer)),
  },
  {
    requirement: 'map.id-is-the-deployment',
    operations: ['get-update-control-map'],
    applies: (seen) => mapIn(seen) !== undefined,
    expect: (seen) => expectEqual('id of the map', mapIn(seen)?.id, seen.deploymentId),
  },
];

/** Refusals that say that the link is no good, rather than that the server is busy. */
const brokenLink = [400, 401, 403, 404, 410];

const sourceRule: WatchRule = {
  requirement: 'next.source-gives-the-artifact',
  operations: [SOURCE],
  applies: (seen) => {
    const source = seen.device.sourceOf(new URL(seen.exchange.url).href);
    if (source === undefined) return false;
    const { expire } = source;
    const isOver = expire !== undefined && !(Date.parse(expire) > seen.serverNowMs);
    return seen.isSuccess || (!isOver && brokenLink.includes(seen.status));
  },
  expect: ({ answer }) =>
    expectThat(answer.status < 300, 'the artifact', `status ${answer.status}`),
};

/** Spec: Device deployments v1, v2; States and transitions; UpdateControlMap */
export const deploymentRules: readonly WatchRule[] = [
  ...askingRules,
  ...reportRules,
  ...mapRules,
  sourceRule,
];
