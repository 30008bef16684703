/** Every defective client: for each duty, what one of them does instead of the good client. */
import type { DefectiveClient } from './alter.ts';
import { authentication } from './defective-clients/authentication.ts';
import { connections } from './defective-clients/connections.ts';
import { downloading } from './defective-clients/downloading.ts';
import { polling } from './defective-clients/polling.ts';
import { reporting } from './defective-clients/reporting.ts';
import { resources } from './defective-clients/resources.ts';

export const defectiveClients: readonly DefectiveClient[] = [
  ...authentication,
  ...polling,
  ...downloading,
  ...reporting,
  ...resources,
  ...connections,
];
