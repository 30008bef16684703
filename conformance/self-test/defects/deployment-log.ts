/** Defects in the log of a deployment. */
import type { RequirementId } from '../../../fixtures/contract/requirements/index.ts';
import { isTimestamp } from '../../../fixtures/contract/text.ts';
import { entriesOf } from '../../target/json-members.ts';
import { isSuccess, objectOf, ownResponse, tokenOf, withJson, withStatus } from '../alter.ts';
import { responseBecomes, sentFieldBecomes, statusBecomes } from '../alterations.ts';
import type { Defect } from '../defect.ts';
import { type DeploymentRelation, relationOf } from '../own-deployment.ts';
import { requestFor } from '../requests.ts';
import {
  bodyMemberAt,
  isBodiless,
  isNoObject,
  isObject,
  isText,
  memberDoesNotFit,
  memberEquals,
  memberIsMissing,
  type RequestFilter,
} from '../sent.ts';

const uploads = ['put-deployment-log'] as const;

/** A defect: a log that must be refused with 400 is accepted. */
function accepts(what: string, requirement: RequirementId, appliesTo: RequestFilter): Defect {
  return {
    id: `log-with-${what.replaceAll(' ', '-')}-is-204`,
    title: `A log with ${what} is answered with 204.`,
    violates: [requirement],
    operations: uploads,
    alter: statusBecomes(400, 204, appliesTo),
  };
}

/** A defect: a valid log is refused. */
function refusesValid(what: string, requirement: RequirementId, appliesTo: RequestFilter): Defect {
  return {
    id: `log-with-${what.replaceAll(' ', '-')}-is-400`,
    title: `A log with ${what} is answered with 400.`,
    violates: [requirement],
    operations: uploads,
    alter: responseBecomes(
      (response) => (response.status === 204 ? ownResponse(400, { error: 'no' }) : response),
      appliesTo,
    ),
  };
}

/** A defect: a log for a deployment with this relation to the device is accepted. */
function acceptedOn(relation: DeploymentRelation, ...violates: Defect['violates']): Defect {
  return {
    id: `log-of-${relation}-deployment-is-204`,
    title: `A log for a deployment that is ${relation} to the device is answered with 204.`,
    violates,
    operations: uploads,
    alter: responseBecomes(async (response, request, send) => {
      const isRefused = response.status === 404 || response.status === 400;
      const isInRelation = isRefused && (await relationOf(request, send)) === relation;
      return isInRelation ? withStatus(response, 204) : response;
    }),
  };
}

function isOtherDateTime(value: unknown): boolean {
  return !isText(value) || isTimestamp(String(value));
}

function byTimestamp(one: unknown, other: unknown): number {
  const [firstTime, secondTime] = [one, other].map((message) =>
    isObject(message) ? Date.parse(String(message.timestamp)) : 0,
  );
  return (firstTime ?? 0) - (secondTime ?? 0);
}

export const deploymentLogDefects: readonly Defect[] = [
  accepts('no body', 'log.body-is-required', isBodiless),
  accepts('a body that is no object', 'log.malformed-is-400', isNoObject),
  accepts('no messages', 'log.fields-are-required', memberIsMissing('messages')),
  accepts(
    'messages that are no array',
    'log.messages-is-array',
    memberDoesNotFit('messages', Array.isArray),
  ),
  accepts(
    'an entry that is no object',
    'log.messages-are-objects',
    memberDoesNotFit('messages.last', isObject),
  ),
  accepts('no timestamp', 'log.timestamp-is-required', memberIsMissing('messages.last.timestamp')),
  accepts('no level', 'log.level-is-required', memberIsMissing('messages.last.level')),
  accepts('no message', 'log.message-is-required', memberIsMissing('messages.last.message')),
  accepts(
    'a timestamp of another type',
    'log.timestamp-is-string',
    memberDoesNotFit('messages.last.timestamp', isText),
  ),
  accepts(
    'a timestamp that is no date-time',
    'log.timestamp-is-a-date-time',
    memberDoesNotFit('messages.last.timestamp', isOtherDateTime),
  ),
  accepts(
    'a level of another type',
    'log.level-is-string',
    memberDoesNotFit('messages.last.level', isText),
  ),
  accepts(
    'a message of another type',
    'log.message-is-string',
    memberDoesNotFit('messages.last.message', isText),
  ),
  refusesValid('an offset in a timestamp', 'log.timestamp-is-a-date-time', (request) =>
    String(bodyMemberAt(request, 'messages.last.timestamp')).endsWith('+05:30'),
  ),
  refusesValid(
    'a level of its own',
    'log.level-is-string',
    memberEquals('messages.last.level', 'text'),
  ),
  refusesValid(
    'a short message',
    'log.message-is-string',
    memberEquals('messages.last.message', 'text'),
  ),
  {
    id: 'log-is-200',
    title: 'An accepted log is answered with 200.',
    violates: ['log.is-accepted'],
    operations: uploads,
    alter: statusBecomes(204, 200, memberEquals('messages.last.message', 'bye')),
  },
  {
    id: 'log-loses-its-end',
    title: 'Only the first message of a log is kept.',
    violates: ['log.is-kept'],
    operations: uploads,
    alter: sentFieldBecomes(
      'messages',
      (messages) => (Array.isArray(messages) ? messages.slice(0, 1) : messages),
      memberEquals('messages.last.message', 'rolled back'),
    ),
  },
  {
    id: 'long-log-is-cut',
    title: 'Only the first thousand messages of a log are kept.',
    violates: ['log.is-kept'],
    operations: uploads,
    alter: sentFieldBecomes('messages', (messages) =>
      Array.isArray(messages) ? messages.slice(0, 1000) : messages,
    ),
  },
  {
    id: 'log-is-sorted-by-time',
    title: 'The messages of a log are kept in the order of their timestamps.',
    violates: ['log.keeps-its-order'],
    operations: uploads,
    alter: sentFieldBecomes(
      'messages',
      (messages) => (Array.isArray(messages) ? messages.toSorted(byTimestamp) : messages),
      memberEquals('messages.last.message', 'last line'),
    ),
  },
  {
    id: 'log-is-appended',
    title: 'A new upload is added to the earlier log.',
    violates: ['log.is-replaced'],
    operations: uploads,
    alter: () => {
      const earlierMessages = new Map<string, readonly unknown[]>();
      return {
        request: (request) => {
          const part = `${tokenOf(request)} ${request.parameters.id ?? ''}`;
          const { messages } = objectOf(request);
          if (!Array.isArray(messages)) return request;
          const all = [...(earlierMessages.get(part) ?? []), ...messages];
          earlierMessages.set(part, all);
          return withJson(request, { messages: all });
        },
      };
    },
  },
  {
    id: 'log-is-that-of-every-device',
    title: 'The log of one device becomes that of all devices of the deployment.',
    violates: ['log.own-part-only'],
    operations: uploads,
    alter: () => {
      const tokens = new Map<string, Set<string>>();
      return {
        response: async (response, request, send) => {
          if (!isSuccess(response)) return response;
          const { id = '' } = request.parameters;
          const { authorization = '' } = request.headers;
          const deploymentTokens = tokens.get(id) ?? new Set<string>();
          tokens.set(id, deploymentTokens.add(authorization));
          for (const otherToken of deploymentTokens) {
            if (otherToken === authorization) continue;
            await send({ ...request, headers: { ...request.headers, authorization: otherToken } });
          }
          return response;
        },
      };
    },
  },
  ...(['failure', 'success'] as const).map(
    (status): Defect => ({
      id: `log-after-${status}-is-404`,
      title: `A log that is uploaded after the device reported ${status} is answered with 404.`,
      violates: ['log.after-failure'],
      operations: ['put-deployment-log', 'put-deployment-status'],
      alter: () => {
        const endedIds = new Set<string>();
        return {
          response: (response, request) => {
            const { id = '' } = request.parameters;
            const isReport = request.operation === 'put-deployment-status';
            const part = `${request.headers.authorization ?? ''} ${id}`;
            if (isReport && bodyMemberAt(request, 'status') === status) endedIds.add(part);
            return !isReport && isSuccess(response) && endedIds.has(part)
              ? ownResponse(404, { error: 'no' })
              : response;
          },
        };
      },
    }),
  ),
  acceptedOn('malformed', 'log.malformed-id'),
  acceptedOn('unknown', 'log.unknown-deployment-is-404', 'tenants.are-apart'),
  acceptedOn('foreign', 'log.foreign-deployment-is-404'),
  {
    id: 'only-hundred-messages-are-checked',
    title: 'Of a log, only the first hundred messages are checked.',
    violates: ['log.level-is-required'],
    operations: uploads,
    alter: statusBecomes(
      400,
      204,
      (request) => entriesOf(bodyMemberAt(request, 'messages')).length > 100,
    ),
  },
  {
    id: 'upload-of-a-log-is-a-failure',
    title: 'An upload of a log changes the status of the deployment to failure.',
    violates: ['status.becomes-the-state', 'next.get-pending-is-200', 'next.repeatable'],
    operations: uploads,
    alter: () => ({
      response: async (response, request, send) => {
        if (!isSuccess(response)) return response;
        const { parameters } = request;
        const requestParts = { parameters, token: tokenOf(request), json: { status: 'failure' } };
        await send(requestFor('put-deployment-status', requestParts));
        return response;
      },
    }),
  },
  {
    id: 'log-brings-back-installing',
    title: 'A log that a device uploads after its end brings it back to installing.',
    violates: ['status.becomes-the-state'],
    operations: uploads,
    alter: responseBecomes(async (response, request, send) => {
      if (response.status !== 204) return response;
      const requestParts = { parameters: request.parameters, token: tokenOf(request) };
      await send(
        requestFor('put-deployment-status', { ...requestParts, json: { status: 'installing' } }),
      );
      return response;
    }),
  },
];
