import { family } from '../../family.ts'
import { issueNoteable } from '../issues/noteable.ts'
import { snippetNoteable } from '../snippets/noteable.ts'
import { reactionsOn } from './endpoints.ts'
import { releaseAwards } from './user-removal.ts'

export const awardEmoji = family({ routes: reactionsOn(issueNoteable), onUserRemoved: releaseAwards })
export const snippetAwards = family({ routes: reactionsOn(snippetNoteable) })
