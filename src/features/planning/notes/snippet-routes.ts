import { snippetNoteable } from '../snippets/noteable.ts'
import { notesOn } from './endpoints.ts'

export const { list, get, create, update, destroy } = notesOn(snippetNoteable)
