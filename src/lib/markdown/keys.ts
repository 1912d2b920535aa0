import { referenceKey } from '../text/references.ts'
import type { TextReference } from './inline.ts'

/** The note belongs to it: what is shown differs. */
export const resolutionKey = (reference: TextReference): string => `${referenceKey(reference)}\0${reference.note ?? ''}`
