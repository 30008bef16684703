/** Scenes of updates that are offered, carried out and ended. */
import type { SceneName } from '../../../conformance/client-judge/scene-names.ts';
import type { Step } from '../scene.ts';
import {
  acceptedStart,
  awaitFinalReport,
  awaitPoll,
  clearFaults,
  corruptByte,
  deploy,
  heldDownload,
  idleTwoIntervals,
  type SceneRow,
  toLogs,
  toPolls,
  toReports,
} from './steps.ts';

const pausesEverywhere = {
  ArtifactInstall_Enter: 'pause',
  ArtifactReboot_Enter: 'pause',
  ArtifactCommit_Enter: 'pause',
} as const;

const pausesLater = { ArtifactReboot_Enter: 'pause', ArtifactCommit_Enter: 'pause' } as const;

const pausesAtCommit = { ArtifactCommit_Enter: 'pause' } as const;

const unrequestedMap = { id: 'unrequested', priority: 0, states: { ArtifactInstall_Enter: {} } };

/** Steps of a deployment that pauses in these states, and is continued once the client pauses. */
function pausedAndContinued(states: Readonly<Record<string, 'pause'>>): readonly Step[] {
  return [
    { deploy: { offer: 'new', states } },
    { await: 'poll with an update' },
    { await: 'report of a pause', isOptional: true },
    { await: 'control map request', isOptional: true },
    { user: 'continueMap' },
    awaitFinalReport,
  ];
}

export const offerScenes = {
  update: acceptedStart(
    deploy,
    { await: 'download' },
    awaitFinalReport,
    // The client authenticates with the identity that it has after the update.
    { faults: [{ ...toPolls, act: 'revoke-token' }] },
    { await: 'authentication request' },
    { user: 'accept' },
    awaitPoll,
    awaitPoll,
  ),
  'second-update': acceptedStart(deploy, awaitFinalReport, deploy, awaitFinalReport),
  'update-restart': acceptedStart(
    deploy,
    { cut: { name: 'at half of the download', hold: heldDownload(0.5) } },
    awaitFinalReport,
  ),
  'restart-while-installing': acceptedStart(
    deploy,
    {
      cut: {
        name: 'after "installing" was stored, without a response',
        hold: {
          match: { operation: 'put-deployment-status', report: 'installing' },
          when: 'after',
        },
      },
    },
    awaitFinalReport,
  ),
  'revoked-in-update': acceptedStart(
    {
      faults: [
        { ...toReports, act: 'revoke-token' },
        { match: { operation: 'put-deployment-status', report: 'success' }, act: 'revoke-token' },
      ],
    },
    deploy,
    { await: 'report' },
    { await: 'final report', isOptional: true },
    { user: 'abort' },
    clearFaults,
    { faults: [corruptByte, { ...toLogs, act: 'revoke-token' }] },
    deploy,
    awaitFinalReport,
    idleTwoIntervals,
  ),
  'v2-absent': acceptedStart(
    {
      faults: [
        {
          match: { operation: ['post-next-deployment-v2', 'get-update-control-map'] },
          times: 'until-cleared',
          act: { kind: 'respond', status: 404 },
        },
      ],
    },
    { await: 'poll by version 1' },
    deploy,
    awaitFinalReport,
    clearFaults,
    idleTwoIntervals,
  ),
  'legal-variations': acceptedStart(
    {
      vary: [
        'unknown-members',
        'member-order',
        'json-spaces',
        'json-escapes',
        'header-case',
        'header-order',
        'media-type',
        'chunked',
        'timestamps',
        'link-query-order',
        'link-unknown-parameter',
        'link-scheme-case',
        'deployment-ids',
      ],
    },
    {
      faults: [
        { ...toPolls, act: { kind: 'respond', status: 204, headers: { Connection: 'close' } } },
      ],
    },
    { await: 'poll without an update' },
    deploy,
    awaitFinalReport,
  ),
  'conflicting-data': acceptedStart(
    { faults: [{ ...toPolls, act: { kind: 'respond', status: 409 } }] },
    { await: 'poll' },
    awaitPoll,
  ),
  'other-type': acceptedStart(
    {
      faults: [
        {
          ...toPolls,
          times: 'until-cleared',
          act: { kind: 'altered-json', set: { 'artifact.device_types_compatible': ['other'] } },
        },
      ],
    },
    deploy,
    { await: 'poll with an update' },
    { await: 'final report', isOptional: true },
  ),
  'bad-instructions': acceptedStart(
    {
      faults: [
        {
          ...toPolls,
          times: { next: 2 },
          act: { kind: 'altered-json', set: { 'artifact.source.uri': null } },
        },
      ],
    },
    deploy,
    { await: 'poll with an update' },
    { await: 'final report', isOptional: true },
  ),
  'installed-already': acceptedStart(
    { deploy: { offer: 'installed' } },
    { await: 'poll with an update' },
    awaitFinalReport,
  ),
  'control-map': {
    ...acceptedStart(
      ...pausedAndContinued(pausesEverywhere),
      { deploy: { offer: 'new', states: pausesEverywhere } },
      { await: 'poll with an update' },
      { await: 'report of a pause', isOptional: true },
      { user: 'abort' },
      { idleIntervals: 3 },
      // A client may know only the first of the states.
      ...pausedAndContinued(pausesLater),
      // Or all but the last one.
      ...pausedAndContinued(pausesAtCommit),
    ),
    needs: 'control-map',
  },
  'unrequested-control-map': {
    ...acceptedStart(
      {
        faults: [
          {
            ...toPolls,
            times: 'until-cleared',
            act: { kind: 'altered-json', set: { 'artifact.update_control_map': unrequestedMap } },
          },
        ],
      },
      deploy,
      awaitFinalReport,
    ),
    excludedBy: 'control-map',
  },
  inventory: acceptedStart({ idleIntervals: 6 }, deploy, awaitFinalReport, {
    await: 'inventory',
    intervals: 6,
    isOptional: true,
  }),
  configuration: acceptedStart(
    { deploy: { offer: 'configuration' } },
    { await: 'poll with an update' },
    { await: 'final report', isOptional: true },
    idleTwoIntervals,
  ),
} as const satisfies Partial<Record<SceneName, SceneRow>>;
