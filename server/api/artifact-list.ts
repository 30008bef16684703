/**
 * Builds lists of artifacts for devices and users. A list is sent in pieces because the header of
 * one artifact may be large.
 */
import type { Artifact } from '../../fixtures/contract/resources.ts';
import { JsonList } from '../http/json-list.ts';
import type { HandlerContext } from '../pipeline/endpoint.ts';
import { artifactView } from './deprecated-fields.ts';

/**
 * Returns the artifacts with these IDs, and leaves out IDs whose artifact has been deleted
 * meanwhile.
 */
export function artifactList(
  ids: readonly string[],
  context: HandlerContext,
): Promise<JsonList<Artifact>> {
  const { store } = context;
  const readArtifact = (id: string): Artifact | undefined => {
    const storedArtifact = store.artifacts.find(id);
    return storedArtifact && artifactView(storedArtifact.artifact, context);
  };
  return JsonList.ofEach(ids, readArtifact, context);
}
