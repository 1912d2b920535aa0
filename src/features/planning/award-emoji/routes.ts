import { issueNoteable } from '../issues/noteable.ts'
import { awardsOnNotes, awardsOnNoteable } from './endpoints.ts'

export const { list, get, create, destroy } = awardsOnNoteable(issueNoteable)
export const {
  list: listOfNote,
  get: getOfNote,
  create: createOnNote,
  destroy: destroyOfNote,
} = awardsOnNotes(issueNoteable)
