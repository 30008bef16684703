/** Scenes of reports and logs that meet an abort, a loss or a refusal. */
import type { SceneName } from '../../../conformance/client-judge/scene-names.ts';
import type { Step } from '../scene.ts';
import {
  acceptedStart,
  awaitFinalReport,
  clearFaults,
  corruptByte,
  damaged,
  deploy,
  idleTwoIntervals,
  outageActions,
  type SceneRow,
  toDownloads,
  toLogs,
  toReports,
} from './steps.ts';

export const reportScenes = {
  abort: acceptedStart(
    ...['downloading', 'installing', 'rebooting'].flatMap((at): Step[] => [
      {
        faults: [
          { ...toReports, act: { kind: 'abort-deployment', at } },
          // A client that goes on with its download has to request it again, again and again.
          ...(at === 'downloading'
            ? [{ ...toDownloads, when: 'body', times: { next: 4 }, act: 'reset' }]
            : []),
        ],
      },
      deploy,
      { await: 'poll with an update' },
      { await: 'report that ends a deployment', isOptional: true },
      idleTwoIntervals,
      { user: 'abort' },
      clearFaults,
    ]),
  ),
  'deployment-gone': acceptedStart(
    { faults: [{ ...toReports, act: { kind: 'respond', status: 404 } }] },
    deploy,
    { await: 'report' },
    { user: 'abort' },
    idleTwoIntervals,
  ),
  'lost-report': acceptedStart(
    {
      faults: [
        ...['downloading', 'installing', 'rebooting'].map((report) => ({
          match: { operation: 'put-deployment-status', report },
          when: 'after',
          act: 'reset',
        })),
        {
          match: { operation: 'put-deployment-status', report: 'success' },
          when: 'after',
          script: ['reset', 'gateway-503'],
        },
      ],
    },
    deploy,
    awaitFinalReport,
  ),
  'report-outage': acceptedStart(
    {
      faults: [
        {
          match: { operation: 'put-deployment-status', report: 'success' },
          when: 'before',
          script: outageActions,
        },
      ],
    },
    deploy,
    { await: 'poll with an update' },
    { await: 'final report', intervals: 20 },
  ),
  'failing-update': acceptedStart(damaged, deploy, awaitFinalReport, { idleIntervals: 3 }),
  'log-too-large': acceptedStart(
    {
      faults: [
        corruptByte,
        { ...toLogs, times: 'until-cleared', act: { kind: 'respond', status: 413 } },
      ],
    },
    deploy,
    awaitFinalReport,
    idleTwoIntervals,
  ),
} as const satisfies Partial<Record<SceneName, SceneRow>>;
