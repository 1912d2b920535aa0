import { snippetTalk } from '../snippets/talk.ts'
import { discussionsOn } from './endpoints.ts'

export const { list, get, create, addNote, getNote, updateNote, destroyNote } = discussionsOn(snippetTalk)
