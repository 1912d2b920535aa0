import { blankable, bool } from '../../../api/wire.ts'

/** Display options of a diff: syntax highlighting, and ignoring whitespace changes. */
export const diffLooks = { render_html: blankable(bool), ignore_whitespace: blankable(bool) }
