/** Scenes of downloads that fail, lie or end early. */
import type { SceneName } from '../../../conformance/client-judge/scene-names.ts';
import { downloadOperations } from '../conditions.ts';
import {
  acceptedStart,
  awaitFinalReport,
  clearFaults,
  damaged,
  deploy,
  type SceneRow,
  toDownloads,
} from './steps.ts';

/** A deployment whose download meets these faults, and which ends in spite of them. */
const faultyDownload = (...faults: readonly object[]): SceneRow =>
  acceptedStart({ faults }, deploy, { await: 'download' }, awaitFinalReport);

export const downloadScenes = {
  'wrong-checksum': acceptedStart(damaged, deploy, { await: 'download' }, awaitFinalReport),
  'short-body': faultyDownload({ ...toDownloads, times: { next: 2 }, act: 'truncated' }),
  'endless-body': faultyDownload({
    ...toDownloads,
    times: { next: 2 },
    act: { kind: 'over-long', extraBytes: 1_048_576, isChunked: true },
  }),
  'expired-link': faultyDownload({
    ...toDownloads,
    times: { next: 3 },
    act: { kind: 'respond', status: 403 },
  }),
  'cut-download': faultyDownload({
    ...toDownloads,
    when: 'body',
    script: [0, 1, 'half', 250_000].map((afterBytes) => ({ kind: 'reset', afterBytes })),
  }),
  'wrong-range': faultyDownload({
    ...toDownloads,
    script: ['reset', { kind: 'shifted-range', claims: 'sent' }],
    when: 'body',
  }),
  'changed-file': faultyDownload({
    ...toDownloads,
    when: 'body',
    script: ['reset', 'changed-validator'],
  }),
  'redirected-link': {
    ...faultyDownload({ ...toDownloads, act: { kind: 'redirect', status: 302 } }),
    server: { dialects: new Set(['storage-host']) },
  },
  // Without another origin the link has the host of the API; its first redirect leads elsewhere.
  'redirected-to-host': {
    ...faultyDownload({ ...toDownloads, act: { kind: 'redirect', host: 'localhost' } }),
    server: {},
  },
  'unsatisfiable-range': faultyDownload(
    { ...toDownloads, when: 'body', act: 'reset' },
    { match: { operation: downloadOperations, nthCall: 2 }, act: 'range-refused' },
  ),
  'failing-download': acceptedStart(
    {
      faults: [{ ...toDownloads, times: 'until-cleared', act: { kind: 'respond', status: 503 } }],
    },
    deploy,
    { await: 'download' },
    { await: 'final report', intervals: 2, isOptional: true },
    clearFaults,
    { user: 'abort' },
  ),
} as const satisfies Partial<Record<SceneName, SceneRow>>;
