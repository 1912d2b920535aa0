import { referenceKey } from '../text/references.ts'
import type { TextReference } from './inline.ts'

/** The note is part of the key, because it changes what is shown. */
export const resolutionKey = (reference: TextReference): string => `${referenceKey(reference)}\0${reference.note ?? ''}`
