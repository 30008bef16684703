/** Every badly written client: for each duty, what one of them does instead of the good client. */
import type { Alteration } from './alter.ts';
import { authentication } from './alterations/authentication.ts';
import { connections } from './alterations/connections.ts';
import { downloading } from './alterations/downloading.ts';
import { polling } from './alterations/polling.ts';
import { reporting } from './alterations/reporting.ts';
import { resources } from './alterations/resources.ts';

export const alterations: readonly Alteration[] = [
  ...authentication,
  ...polling,
  ...downloading,
  ...reporting,
  ...resources,
  ...connections,
];
