import { snippetNoteable } from '../snippets/noteable.ts'
import { awardsOnNotes, awardsOnNoteable } from './endpoints.ts'

export const { list, get, create, destroy } = awardsOnNoteable(snippetNoteable)
export const {
  list: listOfNote,
  get: getOfNote,
  create: createOnNote,
  destroy: destroyOfNote,
} = awardsOnNotes(snippetNoteable)
