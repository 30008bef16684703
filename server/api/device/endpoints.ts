/** All endpoints of the contract, including the endpoints of the links that the server issues. */
import type { Endpoint } from '../../pipeline/endpoint.ts';
import { downloadArtifact, getArtifact, getArtifactLink, listArtifacts } from './artifacts.ts';
import { exportAuditLogs, listAuditLogs } from './audit-logs.ts';
import { postAuthRequest } from './authentication.ts';
import { downloadConfiguration, getConfiguration, putConfiguration } from './configuration.ts';
import { connect } from './connect.ts';
import {
  getUpdateControlMap,
  putDeploymentLog,
  putDeploymentStatus,
} from './deployment-reports.ts';
import { patchAttributes, putAttributes } from './inventory.ts';
import { postAlerts, postMonitorConfiguration } from './monitor.ts';
import { getNextDeployment, postNextDeployment, postNextDeploymentV2 } from './next-deployment.ts';

export const endpoints: readonly Endpoint[] = [
  getNextDeployment,
  postNextDeployment,
  postNextDeploymentV2,
  putDeploymentStatus,
  putDeploymentLog,
  getUpdateControlMap,
  listArtifacts,
  getArtifact,
  getArtifactLink,
  downloadArtifact,
  downloadConfiguration,
  postAuthRequest,
  getConfiguration,
  putConfiguration,
  connect,
  postAlerts,
  postMonitorConfiguration,
  patchAttributes,
  putAttributes,
  listAuditLogs,
  exportAuditLogs,
];
