/** Defects in the instructions for a pending update. */
import type { RequirementId } from '../../../fixtures/contract/requirements/index.ts';
import { changedAt, changedJson, isSuccess, objectOf, withJson } from '../alter.ts';
import { bodyBecomes, fieldBecomes, fieldLeftOut } from '../alterations.ts';
import type { Defect, ProxiedRequest } from '../defect.ts';
import { recognizedRequest } from '../requests.ts';
import { isObject } from '../sent.ts';

/** Returns the operation that a link leads to; undefined when it is not a link of the target. */
function leadsTo(uri: unknown): string | undefined {
  if (typeof uri !== 'string' || !URL.canParse(uri)) return undefined;
  return recognizedRequest('GET', new URL(uri).pathname).operation;
}

const everyPoll = [
  'get-next-deployment',
  'post-next-deployment',
  'post-next-deployment-v2',
] as const;
const reports = ['put-deployment-status', 'put-deployment-log', 'get-update-control-map'] as const;

const polls = {
  v1: ['get-next-deployment', 'post-next-deployment'],
  v2: ['post-next-deployment-v2'],
} as const;
type Version = keyof typeof polls;

/** A wrong value for each field, by the last part of the requirement's name. */
const fields = {
  id: { path: 'id', isRequired: true, wrong: 7 },
  artifact: { path: 'artifact', isRequired: true, wrong: 'an artifact' },
  'artifact-id': { path: 'artifact.id', isRequired: false, wrong: 7 },
  'artifact-name': { path: 'artifact.artifact_name', isRequired: true, wrong: ['release'] },
  source: { path: 'artifact.source', isRequired: true, wrong: 'https://files.example/a' },
  'source-uri': { path: 'artifact.source.uri', isRequired: false, wrong: 'files/a' },
  'source-expire': { path: 'artifact.source.expire', isRequired: false, wrong: 'tomorrow' },
  'device-types': {
    path: 'artifact.device_types_compatible',
    isRequired: true,
    wrong: 'conformance-board',
  },
} as const;

function fieldDefects(version: Version): Defect[] {
  return Object.entries(fields).flatMap(([name, { path, isRequired, wrong }]) => {
    if (version === 'v2' && name === 'artifact-id') return [];
    const common = {
      violates: [`next.${version}-${name}` as RequirementId],
      operations: polls[version],
    } as const;
    const lackDefect = {
      ...common,
      id: `${version}-instructions-lack-${name}`,
      title: `The instructions of ${version} have no ${path}.`,
      alter: fieldLeftOut(path),
    };
    const malformedDefect = {
      ...common,
      id: `${version}-instructions-have-another-${name}`,
      title: `The instructions of ${version} have a malformed ${path}.`,
      alter: fieldBecomes(path, () => wrong),
    };
    return isRequired ? [lackDefect, malformedDefect] : [malformedDefect];
  });
}

const wrappedInArrayDefects = (['v1', 'v2'] as const).map(
  (version): Defect => ({
    id: `${version}-instructions-are-an-array`,
    title: `The instructions of ${version} are wrapped in an array.`,
    violates: [`next.instructions-${version}`, `next.${version}-id`],
    operations: polls[version],
    alter: bodyBecomes((value) => [value]),
  }),
);

const prefix = 'dep-';

/** Returns the request as the target knows it: without the prefix of the deployment ID. */
function withoutPrefix(request: ProxiedRequest): ProxiedRequest {
  return { ...request, path: request.path.replace(`/${prefix}`, '/') };
}

function prefixed(id: unknown): unknown {
  return typeof id === 'string' ? `${prefix}${id}` : id;
}

export const deploymentInstructionDefects: readonly Defect[] = [
  ...wrappedInArrayDefects,
  ...fieldDefects('v1'),
  ...fieldDefects('v2'),
  {
    id: 'v1-id-is-another',
    title: 'Version 1 names the deployment by an ID that users do not know.',
    violates: ['next.id-of-the-deployment', 'service.equal-forms'],
    operations: [...polls.v1, ...reports],
    alter: () => ({
      request: withoutPrefix,
      response: (response, { operation }) =>
        polls.v1.some((poll) => poll === operation) && isSuccess(response)
          ? changedJson(response, (value) => changedAt(value, 'id', prefixed))
          : response,
    }),
  },
  {
    id: 'v2-id-is-unknown-to-reports',
    title: 'The ID of version 2 is unknown when the device reports its status.',
    violates: [
      ...(['next.v2-id-is-usable', 'service.equal-forms'] as const),
      ...(['status.each-value-is-accepted', 'status.is-204'] as const),
    ],
    operations: [...polls.v2, 'get-update-control-map'],
    alter: () => ({
      request: withoutPrefix,
      response: (response, { operation }) => {
        if (!isSuccess(response) || response.body.length === 0) return response;
        const location = operation === 'get-update-control-map' ? '' : 'artifact.';
        const paths = location === '' ? [] : ['id'];
        const map = `${location}update_control_map.id`;
        return changedJson(response, (value) =>
          [...paths, map].reduce((so, path) => changedAt(so, path, prefixed), value),
        );
      },
    }),
  },
  {
    id: 'instructions-name-another-artifact',
    title: 'The instructions name an artifact other than the deployed one.',
    // The wrong name also contradicts the list of artifacts.
    violates: ['next.names-the-artifact', 'artifacts.name'],
    operations: everyPoll,
    alter: fieldBecomes('artifact.artifact_name', () => 'another-release'),
  },
  {
    id: 'instructions-name-other-types',
    title: 'The instructions name device types that the artifact is not compatible with.',
    violates: ['next.types-of-the-artifact', 'artifacts.device-types'],
    operations: everyPoll,
    alter: fieldBecomes('artifact.device_types_compatible', () => ['another-board']),
  },
  {
    id: 'source-leads-nowhere',
    title: 'The source is the URL of no artifact.',
    violates: ['next.source-gives-the-artifact'],
    operations: everyPoll,
    alter: fieldBecomes('artifact.source.uri', (uri) =>
      leadsTo(uri) === 'download-artifact' ? new URL('/nowhere', String(uri)).href : uri,
    ),
  },
  {
    id: 'source-has-expired',
    title: 'The source has already expired in the instructions.',
    violates: ['next.source-expires-later'],
    operations: everyPoll,
    alter: fieldBecomes('artifact.source.expire', () => '2001-01-01T00:00:00Z'),
  },
  {
    id: 'instructions-lack-the-control-map',
    title: 'A device that supports control maps does not get that of its deployment.',
    violates: ['next.control-map'],
    operations: polls.v2,
    alter: fieldLeftOut('artifact.update_control_map'),
  },
  {
    id: 'control-map-stands-beside-the-artifact',
    title: 'The control map is beside the artifact instead of in it.',
    violates: ['next.control-map'],
    operations: polls.v2,
    alter: bodyBecomes((value) => {
      if (!isObject(value) || !isObject(value.artifact)) return value;
      const { update_control_map, ...artifact } = value.artifact;
      return update_control_map === undefined ? value : { ...value, artifact, update_control_map };
    }),
  },
  {
    id: 'control-map-in-instructions-has-another-id',
    title: 'The ID of the control map in the instructions is not that of the deployment.',
    violates: ['next.control-map-id'],
    operations: polls.v2,
    alter: fieldBecomes('artifact.update_control_map.id', () => 'another-map'),
  },
  {
    id: 'control-map-in-instructions-is-another',
    title: 'The control map in the instructions has a priority other than the one that users set.',
    violates: ['next.control-map-as-given'],
    operations: polls.v2,
    alter: fieldBecomes('artifact.update_control_map.priority', () => 9),
  },
  {
    id: 'control-map-that-nobody-gave',
    title: 'The instructions of a deployment without a control map have one.',
    violates: ['next.control-map-only-if-given'],
    operations: polls.v2,
    alter: () => ({
      response: (response) => {
        const { artifact, ...otherMembers } = objectOf(response);
        if (!isObject(artifact) || 'update_control_map' in artifact) return response;
        const update_control_map = { id: otherMembers.id, priority: 0, states: {} };
        return withJson(response, {
          ...otherMembers,
          artifact: { ...artifact, update_control_map },
        });
      },
    }),
  },
];
