/** Defects in alerts and in monitor configurations. */
import type { RequirementId } from '../../../fixtures/contract/requirements/index.ts';
import { isTimestamp } from '../../../fixtures/contract/text.ts';
import { isMap, type Members, membersOf } from '../../target/json-members.ts';
import { isSuccess, jsonOf, listOf, ownResponse, tokenOf, withJson, withStatus } from '../alter.ts';
import { requestBecomes, responseBecomes, statusBecomes } from '../alterations.ts';
import type { Alteration, Defect, ProxiedRequest } from '../defect.ts';
import {
  alerts,
  configurations,
  detailsOf,
  hasEntry,
  monitorFieldDefects,
} from './monitor-fields.ts';

/** A valid alert that is refused. */
interface RefusedAlert {
  readonly id: string;
  readonly title: string;
  readonly violates: readonly [RequirementId, ...RequirementId[]];
  readonly appliesTo: (alert: Members) => boolean;
}

const refusedAlerts: readonly RefusedAlert[] = [
  {
    id: 'alert-of-level-ok-is-refused',
    title: 'An alert of level OK is answered with 400.',
    violates: ['alerts.level-ok'],
    appliesTo: ({ level }) => level === 'OK',
  },
  {
    id: 'alert-of-level-critical-is-refused',
    title: 'An alert of level CRITICAL is answered with 400.',
    violates: ['alerts.level-critical', 'alerts.are-accepted'],
    appliesTo: ({ level }) => level === 'CRITICAL',
  },
  {
    id: 'alert-with-an-offset-is-refused',
    title: 'An alert whose timestamp has an offset is answered with 400.',
    violates: ['alerts.timestamp'],
    appliesTo: ({ timestamp }) => String(timestamp).endsWith('+05:30'),
  },
  {
    id: 'alert-with-details-is-refused',
    title: 'An alert whose subject has details is answered with 400.',
    violates: [
      'alerts.details',
      'alerts.details-description',
      'alerts.lines-before',
      'alerts.line-matching',
      'alerts.lines-after',
      'alerts.line-number',
      'alerts.line-data',
    ],
    appliesTo: (alert) => detailsOf(alert) !== undefined,
  },
  {
    id: 'alert-with-a-description-is-refused',
    title: 'An alert whose details have a description is answered with 400.',
    violates: ['alerts.details-description'],
    appliesTo: (alert) => membersOf(detailsOf(alert)).description !== undefined,
  },
];

/** Matches bodies that are a list of valid objects with these members as strings. */
function isListOf(texts: readonly string[], isRight: (entry: Members) => boolean = isMap) {
  return (request: ProxiedRequest): boolean => {
    const entries = listOf(request).map(membersOf);
    const isValid = (entry: Members): boolean =>
      texts.every((name) => typeof entry[name] === 'string') && isRight(entry);
    return entries.length > 0 && entries.every(isValid);
  };
}

const isConfiguration = isListOf(['name', 'status', 'type']);
/** Alerts with required members only. */
const isPlain = isListOf(['name', 'level', 'timestamp'], ({ level, timestamp, subject }) => {
  const { name, type, status, details } = membersOf(subject);
  const isKnown = level === 'OK' || level === 'CRITICAL';
  const areTexts = [name, type, status].every((text) => typeof text === 'string');
  return isKnown && areTexts && details === undefined && isTimestamp(String(timestamp));
});

function isNoListOfObjects(request: ProxiedRequest): boolean {
  const body = jsonOf(request);
  return request.body.length > 0 && !(Array.isArray(body) && body.every(isMap));
}

/** Replaces a matching valid list with an empty one before the target sees it. */
function emptied(appliesTo: (request: ProxiedRequest) => boolean): () => Alteration {
  return requestBecomes((request) => withJson(request, []), appliesTo);
}

/** Keeps the first configuration of each device, whatever it sends later. */
function keepsFirst(): Alteration {
  const configuredTokens = new Set<string>();
  return {
    request: (request) => {
      if (!isConfiguration(request)) return request;
      const token = tokenOf(request);
      if (configuredTokens.has(token)) return ownResponse(204);
      configuredTokens.add(token);
      return request;
    },
  };
}

const sending: readonly Defect[] = [
  {
    id: 'alerts-are-200',
    title: 'Alerts are answered with 200.',
    violates: ['alerts.are-accepted', 'alerts.level-ok', 'alerts.level-critical'],
    operations: alerts,
    alter: responseBecomes((response) => (response.status === 204 ? ownResponse(200) : response)),
  },
  {
    id: 'alerts-are-answered-with-a-body',
    title: 'Alerts are answered with 200 and a body.',
    violates: [
      'alerts.response-has-no-body',
      'alerts.are-accepted',
      'alerts.level-ok',
      'alerts.level-critical',
    ],
    operations: alerts,
    alter: responseBecomes((response) =>
      isSuccess(response) ? ownResponse(200, { ok: true }) : response,
    ),
  },
  {
    id: 'alerts-of-strangers-are-403',
    title: 'Alerts without a token are answered with 403.',
    violates: ['alerts.need-a-token', 'tokens.missing-is-401'],
    operations: alerts,
    alter: statusBecomes(401, 403, ({ headers }) => headers.authorization === undefined),
  },
  {
    id: 'alerts-of-any-form-are-accepted',
    title: 'A body that is not a JSON array of alerts is answered with 204.',
    violates: ['alerts.malformed-is-400'],
    operations: alerts,
    alter: statusBecomes(400, 204, isNoListOfObjects),
  },
  {
    id: 'alerts-need-no-body',
    title: 'An alert request without a body is answered with 204.',
    violates: ['alerts.body-is-required'],
    operations: alerts,
    alter: statusBecomes(400, 204, ({ body }) => body.length === 0),
  },
  {
    id: 'alerts-are-dropped',
    title: 'Alerts are answered with 204 but not stored.',
    violates: ['alerts.are-shown', 'alerts.both-levels-are-shown'],
    operations: alerts,
    alter: emptied(isPlain),
  },
  {
    id: 'alerts-of-one-moment-are-one',
    title: 'Of several alerts with one timestamp, only the first is kept.',
    violates: ['alerts.are-shown'],
    operations: alerts,
    alter: requestBecomes((request) => {
      const times = listOf(request).map((each) => membersOf(each).timestamp);
      const distinctAlerts = listOf(request).filter(
        (_, index) => times.indexOf(times[index]) === index,
      );
      return withJson(request, distinctAlerts);
    }, isPlain),
  },
];

const configuring: readonly Defect[] = [
  {
    id: 'monitor-configuration-is-201',
    title: 'A monitor configuration is answered with 201.',
    violates: ['monitor.is-accepted'],
    operations: configurations,
    alter: responseBecomes((response) => (response.status === 204 ? ownResponse(201) : response)),
  },
  {
    id: 'monitor-configuration-is-answered-with-a-body',
    title: 'A monitor configuration is answered with 200 and a body.',
    violates: ['monitor.response-has-no-body', 'monitor.is-accepted'],
    operations: configurations,
    alter: responseBecomes((response) =>
      isSuccess(response) ? ownResponse(200, { ok: true }) : response,
    ),
  },
  {
    id: 'monitor-configuration-of-strangers-is-403',
    title: 'A monitor configuration without a token is answered with 403.',
    violates: ['monitor.needs-a-token', 'tokens.missing-is-401'],
    operations: configurations,
    alter: statusBecomes(401, 403, ({ headers }) => headers.authorization === undefined),
  },
  {
    id: 'monitor-configuration-is-dropped',
    title: 'A monitor configuration is answered with 204 but not stored.',
    violates: ['monitor.is-stored', 'monitor.is-current', 'monitor.malformed-is-400'],
    operations: configurations,
    alter: emptied(isConfiguration),
  },
  {
    id: 'monitor-configuration-stays-the-first',
    title: 'The first monitor configuration is kept, whatever is sent later.',
    violates: ['monitor.is-current', 'service.equal-forms'],
    operations: configurations,
    alter: keepsFirst,
  },
  {
    id: 'monitor-configuration-of-any-form-is-accepted',
    title: 'A body that is not a JSON array of monitor configurations is answered with 204.',
    violates: ['monitor.malformed-is-400'],
    operations: configurations,
    alter: statusBecomes(400, 204, isNoListOfObjects),
  },
  {
    id: 'monitor-configuration-needs-no-body',
    title: 'A monitor configuration request without a body is answered with 204.',
    violates: ['monitor.body-is-required'],
    operations: configurations,
    alter: statusBecomes(400, 204, ({ body }) => body.length === 0),
  },
];

/** All defects of this area. */
export const monitorDefects: readonly Defect[] = [
  ...sending,
  ...configuring,
  ...monitorFieldDefects,
  ...refusedAlerts.map(
    ({ appliesTo, ...row }): Defect => ({
      ...row,
      operations: alerts,
      alter: responseBecomes((response, request) =>
        response.status === 204 && hasEntry(appliesTo)(request)
          ? withStatus(response, 400)
          : response,
      ),
    }),
  ),
];
