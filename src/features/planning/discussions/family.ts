import { family } from '../../family.ts'
import { commitNoteable } from '../commit-comments/noteable.ts'
import { issueNoteable } from '../issues/noteable.ts'
import { snippetNoteable } from '../snippets/noteable.ts'
import { discussionsOn } from './endpoints.ts'

export const discussions = family({ routes: discussionsOn(issueNoteable) })
export const commitDiscussions = family({ routes: discussionsOn(commitNoteable) })
export const snippetDiscussions = family({ routes: discussionsOn(snippetNoteable) })
