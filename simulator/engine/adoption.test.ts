import { describe, expect, it } from 'vitest';
import type { DeploymentDevice } from '../../fixtures/contract/management/deployments.ts';
import {
  beginDeployment,
  expectedServerStatus,
  isSettled,
  type SimulatedDevice,
} from '../device/device.ts';
import { deviceOf } from '../testing/client-fixture.ts';
import { adoptOutcomes } from './deployment.ts';
import { outcomeOf } from './funnel.ts';

const runDeployment = { deploymentId: 'deployment-1', artifactName: 'release-2' };

function knownDevice(): SimulatedDevice {
  return { ...deviceOf(), id: 'device-0', deployments: [], life: 'idle' };
}

function deploymentDevice(status: DeploymentDevice['status'], id = 'device-0'): DeploymentDevice {
  return { id, status, created: '2026-01-31T12:00:00Z', log: false };
}

describe('the adoption of outcomes from a lost worker', () => {
  it.each(['success', 'failure', 'aborted', 'already-installed'] as const)(
    'gives a device the outcome %s that the server lists',
    (status) => {
      const device = knownDevice();
      expect(adoptOutcomes([device], [deploymentDevice(status)], runDeployment)).toEqual([device]);
      expect(outcomeOf(device, runDeployment)).toBe(status);
      const [deployment] = device.deployments;
      expect(deployment && expectedServerStatus(deployment)).toBe(status);
      expect(deployment && isSettled(deployment)).toBe(true);
    },
  );

  it('installs the artifact only on devices that finished with success', () => {
    const [updated, failed] = [knownDevice(), knownDevice()];
    adoptOutcomes([updated], [deploymentDevice('success')], runDeployment);
    adoptOutcomes([failed], [deploymentDevice('failure')], runDeployment);
    expect(updated.provides.artifact_name).toBe('release-2');
    expect(failed.provides.artifact_name).not.toBe('release-2');
  });

  it.each(['pending', 'downloading', 'installing', 'rebooting', 'noartifact'] as const)(
    'skips a device that the server lists as %s',
    (status) => {
      const device = knownDevice();
      expect(adoptOutcomes([device], [deploymentDevice(status)], runDeployment)).toEqual([]);
      expect(device.deployments).toEqual([]);
    },
  );

  it('skips a device that has begun the update itself', () => {
    const device = knownDevice();
    const deployment = beginDeployment(device, 'deployment-1', 'release-2');
    expect(adoptOutcomes([device], [deploymentDevice('success')], runDeployment)).toEqual([]);
    expect(deployment.state).toBe('offered');
  });

  it('skips devices of other fleets, and devices whose ID is unknown', () => {
    const unknown = { ...knownDevice(), id: undefined };
    const deviceDeployments = [
      deploymentDevice('success', 'device-9'),
      deploymentDevice('success'),
    ];
    expect(adoptOutcomes([unknown], deviceDeployments, runDeployment)).toEqual([]);
  });
});
