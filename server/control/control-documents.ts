/** The shapes of the documents in YAML or JSON that the control API takes. */
import type { DocumentShapes } from '../../fixtures/reference/components.ts';
import { documentedPlanShape } from '../faults/rule.ts';
import { worldShape } from '../world/world-shape.ts';

export const controlDocuments: DocumentShapes = {
  'fault plan': documentedPlanShape,
  'world file': worldShape,
};
