import { awardsOnNotes, awardsOnNoteable } from '../../planning/award-emoji/endpoints.ts'
import { mergeRequestNoteable } from './noteable.ts'

export const { list, get, create, destroy } = awardsOnNoteable(mergeRequestNoteable)
export const {
  list: listOfNote,
  get: getOfNote,
  create: createOnNote,
  destroy: destroyOfNote,
} = awardsOnNotes(mergeRequestNoteable)
