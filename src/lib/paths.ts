/** The rules of paths: what users, groups and projects may be called in an address. */

/** Path segments of users and groups. */
export const PATH_FORMAT = /^[A-Za-z0-9_.][A-Za-z0-9_.-]*$/
const FORBIDDEN_END = /(\.|\.git|\.atom)$/i

export const PATH_FORMAT_TEXT =
  "can contain only letters, digits, '_', '-' and '.'. Cannot start with '-' or end in '.', '.git' or '.atom'."

export const isPath = (path: string): boolean => PATH_FORMAT.test(path) && !FORBIDDEN_END.test(path)

/** First segments of our own addresses, which no user and no top-level group may take. */
const TOP_LEVEL = new Set(
  `- .well-known 404.html 422.html 500.html 502.html 503.html abuse_reports admin api apple-touch-icon-precomposed.png
  apple-touch-icon.png assets autocomplete boards ci dashboard deploy.html explore favicon.ico files groups health_check
  help import invites jwt koding notification_settings oauth profile projects public robots.txt s search
  sent_notifications slash-command-logo.png snippets u unicorn_test unsubscribes uploads users`.split(/\s+/),
)

export const isReservedAtTop = (path: string): boolean => TOP_LEVEL.has(path.toLowerCase())
