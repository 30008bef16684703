/** Every badly written client: for each duty, what one of them does instead of the good client. */
import type { BadClient } from './alter.ts';
import { authentication } from './bad-clients/authentication.ts';
import { connections } from './bad-clients/connections.ts';
import { downloading } from './bad-clients/downloading.ts';
import { polling } from './bad-clients/polling.ts';
import { reporting } from './bad-clients/reporting.ts';
import { resources } from './bad-clients/resources.ts';

export const badClients: readonly BadClient[] = [
  ...authentication,
  ...polling,
  ...downloading,
  ...reporting,
  ...resources,
  ...connections,
];
