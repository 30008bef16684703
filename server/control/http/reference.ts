/** Serves the reference of the APIs, with the addresses and header names of this server. */
import type { ExplainSettings } from './explanations.ts';
import type { Handlers } from './mount.ts';

/** Creates the handlers that return the documents. Each is generated on first use. */
export function referenceHandlers({ headerNames, mounts }: ExplainSettings) {
  const { addresses } = mounts;
  let openApi: object | undefined;
  return {
    'GET /openapi.json': async () => {
      const { openApiOf } = await import('../../../fixtures/reference/openapi.ts');
      const { controlDocuments } = await import('../control-documents.ts');
      openApi ??= openApiOf({
        headerPrefix: headerNames.prefix,
        url: addresses.api,
        documents: controlDocuments,
        ...(addresses.console !== undefined && { controlUrl: addresses.console }),
      });
      return openApi;
    },
    'GET /asyncapi.json': async () => {
      const { asyncApiOf } = await import('../../../fixtures/reference/asyncapi.ts');
      return asyncApiOf(addresses.api);
    },
  } satisfies Partial<Handlers>;
}
