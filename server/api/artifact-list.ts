/** Lists of artifacts for devices and users, sent in pieces because an artifact's header may be large. */
import type { Artifact } from '../../fixtures/contract/resources.ts';
import { JsonList } from '../http/json-list.ts';
import type { HandlerContext } from '../pipeline/endpoint.ts';
import { artifactView } from './deprecated-fields.ts';

/** The artifacts of these ids that are still there. */
export function artifactList(
  ids: readonly string[],
  context: HandlerContext,
): Promise<JsonList<Artifact>> {
  const { store } = context;
  const read = (id: string): Artifact | undefined => {
    const found = store.artifacts.find(id);
    return found && artifactView(found.artifact, context);
  };
  return JsonList.ofEach(ids, read, context);
}
