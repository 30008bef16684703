/** All endpoints of the management API beside the audit log. */
import type { Endpoint } from '../http/endpoint.ts';
import {
  deleteArtifact,
  getArtifactDownload,
  listAllArtifacts,
  showArtifact,
  uploadArtifact,
} from './artifacts.ts';
import { deployConfiguration, setConfiguration, showConfiguration } from './configuration.ts';
import {
  abortDeviceDeployments,
  getDeploymentLog,
  listDeploymentDevices,
} from './deployment-devices.ts';
import {
  abortDeployment,
  createDeployment,
  getDeployment,
  getDeploymentStatistics,
  listDeployments,
} from './deployments.ts';
import {
  getConnection,
  getInventory,
  listAlerts,
  showMonitorConfiguration,
} from './device-state.ts';
import {
  countDevices,
  decommissionDevice,
  getDevice,
  listDevices,
  preauthorizeDevice,
  setAuthSetStatus,
} from './devices.ts';
import { login } from './login.ts';

export const managementEndpoints: readonly Endpoint[] = [
  login,
  listDevices,
  countDevices,
  getDevice,
  preauthorizeDevice,
  setAuthSetStatus,
  decommissionDevice,
  uploadArtifact,
  listAllArtifacts,
  showArtifact,
  getArtifactDownload,
  deleteArtifact,
  createDeployment,
  listDeployments,
  getDeployment,
  getDeploymentStatistics,
  abortDeployment,
  listDeploymentDevices,
  getDeploymentLog,
  abortDeviceDeployments,
  showConfiguration,
  setConfiguration,
  deployConfiguration,
  getConnection,
  getInventory,
  listAlerts,
  showMonitorConfiguration,
];
