/** Scenes of updates that are offered, carried out and ended. */
import type { SceneName } from '../../../../../conformance/clients/scenes.ts';
import {
  accepted,
  clear,
  damage,
  deploy,
  ends,
  goesOn,
  heldDownload,
  polls,
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

const unaskedMap = { id: 'unasked', priority: 0, states: { ArtifactInstall_Enter: {} } };

export const offerScenes = {
  update: accepted(
    deploy,
    { await: 'download' },
    ends,
    // The client authenticates with the identity that it has after the update.
    { faults: [{ ...toPolls, act: 'revoke-token' }] },
    { await: 'authentication request' },
    { user: 'accept' },
    polls,
    polls,
  ),
  'second-update': accepted(deploy, ends, deploy, ends),
  'update-restart': accepted(
    deploy,
    { cut: { name: 'at half of the download', hold: heldDownload(0.5) } },
    ends,
  ),
  'restart-while-installing': accepted(
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
    ends,
  ),
  'revoked-in-update': accepted(
    {
      faults: [
        { ...toReports, act: 'revoke-token' },
        { match: { operation: 'put-deployment-status', report: 'success' }, act: 'revoke-token' },
      ],
    },
    deploy,
    { await: 'report' },
    { await: 'final report', orGoOn: true },
    { user: 'abort' },
    clear,
    { faults: [damage, { ...toLogs, act: 'revoke-token' }] },
    deploy,
    ends,
    goesOn,
  ),
  'v2-absent': accepted(
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
    ends,
    clear,
    goesOn,
  ),
  'legal-variations': accepted(
    {
      vary: [
        ...(['unknown-members', 'member-order', 'json-spaces', 'json-escapes'] as const),
        ...(['header-case', 'header-order', 'media-type', 'chunked', 'timestamps'] as const),
        ...(['link-query-order', 'link-unknown-parameter', 'link-scheme-case'] as const),
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
    ends,
  ),
  'conflicting-data': accepted(
    { faults: [{ ...toPolls, act: { kind: 'respond', status: 409 } }] },
    { await: 'poll' },
    polls,
  ),
  'other-type': accepted(
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
    { await: 'final report', orGoOn: true },
  ),
  'bad-instructions': accepted(
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
    { await: 'final report', orGoOn: true },
  ),
  'installed-already': accepted(
    { deploy: { offer: 'installed' } },
    { await: 'poll with an update' },
    ends,
  ),
  'control-map': {
    ...accepted(
      { deploy: { offer: 'new', states: pausesEverywhere } },
      { await: 'poll with an update' },
      { await: 'report of a pause', orGoOn: true },
      { await: 'map request', orGoOn: true },
      { user: 'continueMap' },
      ends,
      { deploy: { offer: 'new', states: pausesEverywhere } },
      { await: 'poll with an update' },
      { await: 'report of a pause', orGoOn: true },
      { user: 'abort' },
      { idleIntervals: 3 },
      // A client may know only the first of the states.
      { deploy: { offer: 'new', states: pausesLater } },
      { await: 'poll with an update' },
      { await: 'report of a pause', orGoOn: true },
      { await: 'map request', orGoOn: true },
      { user: 'continueMap' },
      ends,
    ),
    needs: 'control-map',
  },
  'unasked-control-map': {
    ...accepted(
      {
        faults: [
          {
            ...toPolls,
            times: 'until-cleared',
            act: { kind: 'altered-json', set: { 'artifact.update_control_map': unaskedMap } },
          },
        ],
      },
      deploy,
      ends,
    ),
    lacks: 'control-map',
  },
  inventory: accepted({ idleIntervals: 6 }, deploy, ends, {
    await: 'inventory',
    intervals: 6,
    orGoOn: true,
  }),
  configuration: accepted(
    { deploy: { offer: 'configuration' } },
    { await: 'poll with an update' },
    { await: 'final report', orGoOn: true },
    goesOn,
  ),
} as const satisfies Partial<Record<SceneName, SceneRow>>;
