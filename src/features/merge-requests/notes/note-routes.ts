import { notesOn } from '../../planning/notes/endpoints.ts'
import { mergeRequestNoteable } from './noteable.ts'

export const { list, get, create, update, destroy } = notesOn(mergeRequestNoteable)
