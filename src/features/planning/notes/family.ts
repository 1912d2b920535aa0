import { family } from '../../family.ts'
import { issueNoteable } from '../issues/noteable.ts'
import { snippetNoteable } from '../snippets/noteable.ts'
import { notesOn } from './endpoints.ts'
import { releaseNotes } from './user-removal.ts'

export const notes = family({ routes: notesOn(issueNoteable), onUserRemoved: releaseNotes })
export const snippetNotes = family({ routes: notesOn(snippetNoteable) })
