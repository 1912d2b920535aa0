import { snippetNoteable } from '../snippets/noteable.ts'
import { discussionsOn } from './endpoints.ts'

export const { list, get, create, addNote, getNote, updateNote, destroyNote } = discussionsOn(snippetNoteable)
