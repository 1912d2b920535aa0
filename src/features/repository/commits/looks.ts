import { blankable, bool } from '../../../api/wire.ts'

/** How a diff is looked at: with its words marked, and without changes of spaces alone. */
export const diffLooks = { render_html: blankable(bool), ignore_whitespace: blankable(bool) }
