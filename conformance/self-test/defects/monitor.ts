/** Planted defects of alerts and of monitor configurations. */
import type { RequirementId } from '../../../fixtures/contract/requirements/index.ts';
import { isTimestamp } from '../../../fixtures/contract/text.ts';
import { entriesOf, isMap, type Members, membersOf } from '../../target/json-members.ts';
import { isSuccess, jsonOf, listOf, ownAnswer, tokenOf, withJson, withStatus } from '../alter.ts';
import type { Defect, Plant, ProxiedRequest } from '../defect.ts';
import { answerBecomes, requestBecomes, statusBecomes } from '../plants.ts';

const alerts = ['post-alerts'] as const;
const configurations = ['post-monitor-configuration'] as const;

function isFilled(value: unknown): boolean {
  return Object.keys(membersOf(value)).length > 0;
}

/** Whether one of the entries of the body is picked. */
function holds(picks: (entry: Members) => boolean): (request: ProxiedRequest) => boolean {
  return (request) => listOf(request).some((entry) => isMap(entry) && picks(entry));
}

/** Whether an object, which is not empty, lacks the member as a text. */
function lacksText(value: unknown, member: string): boolean {
  return isFilled(value) && typeof membersOf(value)[member] !== 'string';
}

function detailsOf({ subject }: Members): unknown {
  return membersOf(subject).details;
}

/** The lines of an alert, wherever they stand. */
function linesOf(alert: Members): readonly unknown[] {
  const {
    lines_before: before,
    line_matching: matching,
    lines_after: after,
  } = membersOf(detailsOf(alert));
  return [...entriesOf(before), ...(matching === undefined ? [] : [matching]), ...entriesOf(after)];
}

function isNoLineList(lines: unknown): boolean {
  return lines !== undefined && !(Array.isArray(lines) && lines.every(isMap));
}

/** A rule on one field that nobody enforces. */
interface UncheckedField {
  readonly id: string;
  readonly title: string;
  readonly breaks: RequirementId;
  readonly picks: (entry: Members) => boolean;
}

const alertFields: readonly UncheckedField[] = [
  {
    id: 'alert-needs-no-field',
    title: 'An alert without any field is answered 204.',
    breaks: 'alerts.fields-are-required',
    picks: (alert) => !isFilled(alert),
  },
  {
    id: 'alert-needs-no-name',
    title: 'An alert whose name is missing or no text is answered 204.',
    breaks: 'alerts.name',
    picks: (alert) => lacksText(alert, 'name'),
  },
  {
    id: 'alert-needs-no-level',
    title: 'An alert whose level is missing or no text is answered 204.',
    breaks: 'alerts.level',
    picks: (alert) => lacksText(alert, 'level'),
  },
  {
    id: 'alert-takes-any-level',
    title: 'An alert of any level is answered 204.',
    breaks: 'alerts.levels',
    picks: ({ level }) => typeof level === 'string' && !['OK', 'CRITICAL'].includes(level),
  },
  {
    id: 'alert-level-may-be-small',
    title: 'An alert whose level is in small letters is answered 204.',
    breaks: 'alerts.levels',
    picks: ({ level }) => level === 'critical',
  },
  {
    id: 'alert-needs-no-subject',
    title: 'An alert whose subject is missing or no object is answered 204.',
    breaks: 'alerts.subject',
    picks: (alert) => isFilled(alert) && !isMap(alert.subject),
  },
  {
    id: 'alert-needs-no-timestamp',
    title: 'An alert whose timestamp is missing or no text is answered 204.',
    breaks: 'alerts.timestamp',
    picks: (alert) => lacksText(alert, 'timestamp'),
  },
  {
    id: 'alert-takes-any-timestamp',
    title: 'An alert whose timestamp is any text is answered 204.',
    breaks: 'alerts.timestamp',
    picks: ({ timestamp }) =>
      typeof timestamp === 'string' && !/^\d{4}(-\d\d){2}T(\d\d:){2}\d\d/.test(timestamp),
  },
  {
    id: 'subject-needs-no-field',
    title: 'An alert with an empty subject is answered 204.',
    breaks: 'alerts.subject-fields-are-required',
    picks: ({ subject }) => isMap(subject) && !isFilled(subject),
  },
  {
    id: 'subject-needs-no-name',
    title: 'A subject whose name is missing or no text is answered 204.',
    breaks: 'alerts.subject-name',
    picks: ({ subject }) => lacksText(subject, 'name'),
  },
  {
    id: 'subject-needs-no-type',
    title: 'A subject whose type is missing or no text is answered 204.',
    breaks: 'alerts.subject-type',
    picks: ({ subject }) => lacksText(subject, 'type'),
  },
  {
    id: 'subject-needs-no-status',
    title: 'A subject whose status is missing or no text is answered 204.',
    breaks: 'alerts.subject-status',
    picks: ({ subject }) => lacksText(subject, 'status'),
  },
  {
    id: 'details-of-any-kind-are-taken',
    title: 'Details that are no object are answered 204.',
    breaks: 'alerts.details',
    picks: (alert) => detailsOf(alert) !== undefined && !isMap(detailsOf(alert)),
  },
  {
    id: 'description-in-details-is-unchecked',
    title: 'A description in details that is no text is answered 204.',
    breaks: 'alerts.details-description',
    picks: (alert) => {
      const { description } = membersOf(detailsOf(alert));
      return description !== undefined && typeof description !== 'string';
    },
  },
  {
    id: 'lines-before-are-unchecked',
    title: 'Lines before that are no list of lines are answered 204.',
    breaks: 'alerts.lines-before',
    picks: (alert) => isNoLineList(membersOf(detailsOf(alert)).lines_before),
  },
  {
    id: 'line-matching-is-unchecked',
    title: 'A matching line that is no line is answered 204.',
    breaks: 'alerts.line-matching',
    picks: (alert) => {
      const { line_matching: line } = membersOf(detailsOf(alert));
      return line !== undefined && !isMap(line);
    },
  },
  {
    id: 'lines-after-are-unchecked',
    title: 'Lines after that are no list of lines are answered 204.',
    breaks: 'alerts.lines-after',
    picks: (alert) => isNoLineList(membersOf(detailsOf(alert)).lines_after),
  },
  {
    id: 'line-needs-no-field',
    title: 'A line without any field is answered 204.',
    breaks: 'alerts.line-fields-are-required',
    picks: (alert) => linesOf(alert).some((line) => isMap(line) && !isFilled(line)),
  },
  {
    id: 'line-number-may-be-a-fraction',
    title: 'A line whose number is a fraction is answered 204.',
    breaks: 'alerts.line-number',
    picks: (alert) => linesOf(alert).some((line) => membersOf(line).line_number === 42.5),
  },
  {
    id: 'line-needs-no-number',
    title: 'A line without a number is answered 204.',
    breaks: 'alerts.line-number',
    picks: (alert) =>
      linesOf(alert).some((line) => isFilled(line) && !('line_number' in membersOf(line))),
  },
  {
    id: 'line-needs-no-data',
    title: 'A line whose data is missing or no text is answered 204.',
    breaks: 'alerts.line-data',
    picks: (alert) => linesOf(alert).some((line) => lacksText(line, 'data')),
  },
];

const entryFields: readonly UncheckedField[] = [
  {
    id: 'monitor-entry-needs-no-field',
    title: 'A monitor configuration without any field is answered 204.',
    breaks: 'monitor.fields-are-required',
    picks: (entry) => !isFilled(entry),
  },
  {
    id: 'monitor-entry-needs-no-name',
    title: 'A monitor configuration whose name is missing or no text is answered 204.',
    breaks: 'monitor.name',
    picks: (entry) => lacksText(entry, 'name'),
  },
  {
    id: 'monitor-entry-needs-no-status',
    title: 'A monitor configuration whose status is missing or no text is answered 204.',
    breaks: 'monitor.status',
    picks: (entry) => lacksText(entry, 'status'),
  },
  {
    id: 'monitor-entry-needs-no-type',
    title: 'A monitor configuration whose type is missing or no text is answered 204.',
    breaks: 'monitor.type',
    picks: (entry) => lacksText(entry, 'type'),
  },
];

/** A form of alert that is refused although it is allowed. */
interface RefusedForm {
  readonly id: string;
  readonly title: string;
  readonly breaks: readonly [RequirementId, ...RequirementId[]];
  readonly picks: (alert: Members) => boolean;
}

const refusedForms: readonly RefusedForm[] = [
  {
    id: 'alert-of-level-ok-is-refused',
    title: 'An alert of the level OK is answered 400.',
    breaks: ['alerts.level-ok'],
    picks: ({ level }) => level === 'OK',
  },
  {
    id: 'alert-of-level-critical-is-refused',
    title: 'An alert of the level CRITICAL is answered 400.',
    breaks: ['alerts.level-critical', 'alerts.are-accepted'],
    picks: ({ level }) => level === 'CRITICAL',
  },
  {
    id: 'alert-with-an-offset-is-refused',
    title: 'An alert whose timestamp has an offset is answered 400.',
    breaks: ['alerts.timestamp'],
    picks: ({ timestamp }) => String(timestamp).endsWith('+05:30'),
  },
  {
    id: 'alert-with-details-is-refused',
    title: 'An alert whose subject has details is answered 400.',
    breaks: [
      'alerts.details',
      'alerts.details-description',
      'alerts.lines-before',
      'alerts.line-matching',
      'alerts.lines-after',
      'alerts.line-number',
      'alerts.line-data',
    ],
    picks: (alert) => detailsOf(alert) !== undefined,
  },
  {
    id: 'alert-with-a-description-is-refused',
    title: 'An alert whose details have a description is answered 400.',
    breaks: ['alerts.details-description'],
    picks: (alert) => membersOf(detailsOf(alert)).description !== undefined,
  },
];

/** Whether the body is a list of objects that have these members as texts, and nothing wrong. */
function isListOf(texts: readonly string[], isRight: (entry: Members) => boolean = isMap) {
  return (request: ProxiedRequest): boolean => {
    const entries = listOf(request).map(membersOf);
    const isGood = (entry: Members): boolean =>
      texts.every((name) => typeof entry[name] === 'string') && isRight(entry);
    return entries.length > 0 && entries.every(isGood);
  };
}

const isConfiguration = isListOf(['name', 'status', 'type']);
/** Alerts that hold nothing but what is required. */
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

/** The target sees an empty list in place of one that is in order. */
function emptied(picks: (request: ProxiedRequest) => boolean): () => Plant {
  return requestBecomes((request) => withJson(request, []), picks);
}

/** The first configuration of each device stays, whatever it sends later. */
function keepsFirst(): Plant {
  const configured = new Set<string>();
  return {
    request: (request) => {
      if (!isConfiguration(request)) return request;
      const token = tokenOf(request);
      if (configured.has(token)) return ownAnswer(204);
      configured.add(token);
      return request;
    },
  };
}

const sending: readonly Defect[] = [
  {
    id: 'alerts-are-200',
    title: 'Alerts are answered 200.',
    breaks: ['alerts.are-accepted', 'alerts.level-ok', 'alerts.level-critical'],
    operations: alerts,
    plant: answerBecomes((answer) => (answer.status === 204 ? ownAnswer(200) : answer)),
  },
  {
    id: 'alerts-are-answered-with-a-body',
    title: 'Alerts are answered 200 with a body.',
    breaks: [
      'alerts.answer-has-no-body',
      'alerts.are-accepted',
      'alerts.level-ok',
      'alerts.level-critical',
    ],
    operations: alerts,
    plant: answerBecomes((answer) => (isSuccess(answer) ? ownAnswer(200, { ok: true }) : answer)),
  },
  {
    id: 'alerts-of-strangers-are-403',
    title: 'Alerts without a token are answered 403.',
    breaks: ['alerts.need-a-token', 'tokens.missing-is-401'],
    operations: alerts,
    plant: statusBecomes(401, 403, ({ headers }) => headers.authorization === undefined),
  },
  {
    id: 'alerts-of-any-form-are-taken',
    title: 'A body that is no JSON array of alerts is answered 204.',
    breaks: ['alerts.malformed-is-400'],
    operations: alerts,
    plant: statusBecomes(400, 204, isNoListOfObjects),
  },
  {
    id: 'alerts-need-no-body',
    title: 'A request for alerts without a body is answered 204.',
    breaks: ['alerts.body-is-required'],
    operations: alerts,
    plant: statusBecomes(400, 204, ({ body }) => body.length === 0),
  },
  {
    id: 'alerts-are-dropped',
    title: 'Alerts are answered 204 and forgotten.',
    breaks: ['alerts.are-shown', 'alerts.both-levels-are-shown'],
    operations: alerts,
    plant: emptied(isPlain),
  },
];

const configuring: readonly Defect[] = [
  {
    id: 'monitor-configuration-is-201',
    title: 'A monitor configuration is answered 201.',
    breaks: ['monitor.is-accepted'],
    operations: configurations,
    plant: answerBecomes((answer) => (answer.status === 204 ? ownAnswer(201) : answer)),
  },
  {
    id: 'monitor-configuration-is-answered-with-a-body',
    title: 'A monitor configuration is answered 200 with a body.',
    breaks: ['monitor.answer-has-no-body', 'monitor.is-accepted'],
    operations: configurations,
    plant: answerBecomes((answer) => (isSuccess(answer) ? ownAnswer(200, { ok: true }) : answer)),
  },
  {
    id: 'monitor-configuration-of-strangers-is-403',
    title: 'A monitor configuration without a token is answered 403.',
    breaks: ['monitor.needs-a-token', 'tokens.missing-is-401'],
    operations: configurations,
    plant: statusBecomes(401, 403, ({ headers }) => headers.authorization === undefined),
  },
  {
    id: 'monitor-configuration-is-dropped',
    title: 'A monitor configuration is answered 204 and forgotten.',
    breaks: ['monitor.is-stored', 'monitor.is-current', 'monitor.malformed-is-400'],
    operations: configurations,
    plant: emptied(isConfiguration),
  },
  {
    id: 'monitor-configuration-stays-the-first',
    title: 'The first monitor configuration stays, whatever is sent later.',
    breaks: ['monitor.is-current'],
    operations: configurations,
    plant: keepsFirst,
  },
  {
    id: 'monitor-configuration-of-any-form-is-taken',
    title: 'A body that is no JSON array of monitor configurations is answered 204.',
    breaks: ['monitor.malformed-is-400'],
    operations: configurations,
    plant: statusBecomes(400, 204, isNoListOfObjects),
  },
  {
    id: 'monitor-configuration-needs-no-body',
    title: 'A request for monitor configurations without a body is answered 204.',
    breaks: ['monitor.body-is-required'],
    operations: configurations,
    plant: statusBecomes(400, 204, ({ body }) => body.length === 0),
  },
];

/** Whoever takes a field of a wrong form takes a malformed body. */
function unchecked(
  { id, title, breaks, picks }: UncheckedField,
  operations: Defect['operations'],
  malformed: RequirementId,
): Defect {
  const plant = statusBecomes(400, 204, holds(picks));
  return { id, title, breaks: [breaks, malformed], operations, plant };
}

/** All rows of this area. */
export const monitorDefects: readonly Defect[] = [
  ...sending,
  ...configuring,
  ...alertFields.map((field) => unchecked(field, alerts, 'alerts.malformed-is-400')),
  ...entryFields.map((field) => unchecked(field, configurations, 'monitor.malformed-is-400')),
  ...refusedForms.map(
    ({ picks, ...row }): Defect => ({
      ...row,
      operations: alerts,
      plant: answerBecomes((answer, request) =>
        answer.status === 204 && holds(picks)(request) ? withStatus(answer, 400) : answer,
      ),
    }),
  ),
];
