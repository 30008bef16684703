import { describe, expect, it } from 'vitest';
import type { WithholdingCondition } from './device-deployment-choice.ts';
import type { UnsuitableReason } from './next-deployment.ts';
import { type NoUpdate, type NoUpdateCondition, noDeployment } from './no-update.ts';
import {
  alreadyInstalledFor,
  type DescribedDeviceDeployment,
  noOpenDeploymentFor,
  noSuitableArtifactFor,
  remedies,
  remedyOf,
  withheldText,
} from './no-update-sentences.ts';

const NOON_MS = Date.UTC(2026, 11, 1, 12);
const HOUR_MS = 3_600_000;

const deployment: DescribedDeviceDeployment['deployment'] = {
  id: 'd1',
  name: 'spring',
  artifactName: 'release-2',
  deviceCount: 3,
  seq: 1,
  ...({ createdMs: NOON_MS, type: 'software' } as const),
};

type Fields = Partial<DescribedDeviceDeployment>;

function deviceDeployment(fields: Fields = {}): DescribedDeviceDeployment {
  const state = { status: 'pending', attempts: 0, retriesLeft: 0, offeredDevices: 1 } as const;
  return { ...state, deployment, ...fields };
}

const finished = { finishedMs: NOON_MS + HOUR_MS };

/**
 * Conditions that withhold a device deployment: its facts, the sentence, and the first words of the
 * remedy.
 */
const withheldRows: readonly [WithholdingCondition, Fields, sentence: string, remedy: string][] = [
  [
    'start',
    {},
    'deployment spring (d1) of release-2 starts at 2026-12-01T12:00:00.000Z',
    'wait for the start, or move the clock',
  ],
  [
    'phase',
    {
      deployment: {
        ...deployment,
        phases: [
          { startMs: NOON_MS, batchSize: 1, devicesUntil: 1 },
          { startMs: NOON_MS + 2 * HOUR_MS, batchSize: 2, devicesUntil: 3 },
        ],
      },
    },
    'the phases of deployment spring (d1) of release-2 allow 1 of 3 devices so far, and 1 was offered it; phase 2 starts at 2026-12-01T14:00:00.000Z',
    'wait for the next phase, or move the clock',
  ],
  [
    'max-devices',
    { deployment: { ...deployment, maxDevices: 1 } },
    'deployment spring (d1) of release-2 is limited to 1 device, and 1 was offered it',
    'create another deployment for the device, with no max_devices',
  ],
  [
    'device-finished',
    { status: 'failure', ...finished },
    'the device finished deployment spring (d1) of release-2 with failure at 2026-12-01T13:00:00.000Z: it reported failure, or polled with different data than when it got the update',
    'deploy to the device again; if it failed',
  ],
  [
    'aborted',
    { status: 'aborted', ...finished },
    'deployment spring (d1) of release-2 was aborted for the device at 2026-12-01T13:00:00.000Z',
    'deploy to the device again, since an aborted deployment',
  ],
  [
    'deployment-finished',
    { deployment: { ...deployment, ...finished } },
    'deployment spring (d1) of release-2 was finished at 2026-12-01T13:00:00.000Z, before the device began it',
    'deploy to the device again, since the deployment is finished',
  ],
  [
    'older',
    {},
    'deployment spring (d1) of release-2 is older than the last one that the device finished, so it is skipped',
    'deploy this release to the device again',
  ],
];

/** Why no artifact suits a device: the end of the sentence, and how the remedy begins. */
const misfits: readonly [UnsuitableReason, sentence: string, remedy: string][] = [
  [{ condition: 'artifact' }, 'no artifact has this name', 'upload an artifact of this name'],
  [
    {
      condition: 'device-type',
      name: 'device_type',
      reportedValue: 'Board',
      accepted: ['board', 'b2'],
    },
    'no artifact with this name is compatible with device type Board; compatible types: board, b2',
    'upload an artifact for this device type',
  ],
  [
    { condition: 'depends', name: 'checksum', reportedValue: undefined, accepted: ['aaa'] },
    'it requires checksum to be one of: aaa; the device does not report it',
    'upload an artifact whose dependencies the device meets',
  ],
  [
    { condition: 'depends', name: 'checksum', reportedValue: 'bbb', accepted: ['aaa'] },
    'it requires checksum to be one of: aaa; the device reports bbb',
    'upload an artifact whose dependencies the device meets',
  ],
];

describe('the reason and the remedy of a missing update', () => {
  it.each(withheldRows)(
    'name the deployment and its facts: %s',
    (condition, fields, sentence, remedy) => {
      const facts = deviceDeployment(fields);
      expect(withheldText(condition, facts, NOON_MS)).toBe(sentence);
      const reason = noOpenDeploymentFor(facts, condition, NOON_MS);
      expect(reason).toEqual({
        condition,
        deploymentId: 'd1',
        isUpToDate: false,
        reason: sentence,
      });
      expect(remedyOf(reason)).toMatch(new RegExp(`^${remedy}`));
    },
  );

  it.each(misfits)('name what no artifact has: %j', (misfit, sentence, remedy) => {
    const reason = noSuitableArtifactFor(deployment, misfit);
    expect(reason.reason).toBe(
      `deployment spring (d1) of release-2 has no artifact for the device: ${sentence}`,
    );
    expect(remedyOf(reason)).toMatch(new RegExp(`^${remedy}`));
  });

  it('name the command that deploys, for a device in no deployment', () => {
    expect(noDeployment.reason).toBe('no deployment includes the device');
    expect(remedyOf(noDeployment)).toContain('npx fleetbed deploy');
  });

  it('exist for every condition that the tables of this test have', () => {
    const tested: readonly NoUpdateCondition[] = [
      ...withheldRows.map(([condition]) => condition),
      ...misfits.map(([{ condition }]) => condition),
      ...(['deployment', 'already-installed'] as const),
    ];
    expect(new Set(tested)).toEqual(new Set(Object.keys(remedies)));
  });
});

describe('a device that is up to date', () => {
  const upToDate: readonly [string, NoUpdate][] = [
    [
      'success',
      noOpenDeploymentFor(deviceDeployment({ status: 'success' }), 'device-finished', NOON_MS),
    ],
    [
      'already-installed',
      noOpenDeploymentFor(
        deviceDeployment({ status: 'already-installed' }),
        'device-finished',
        NOON_MS,
      ),
    ],
    ['the artifact of the deployment', alreadyInstalledFor(deployment)],
  ];

  it.each(upToDate)('needs no remedy: %s', (_, reason) => {
    expect([reason.isUpToDate, remedyOf(reason)]).toEqual([true, undefined]);
  });
});
