/** The app behind the CLI verbs. It is imported only when a verb needs it, so `--help` answers at once. */
import type { OpenedApp } from '../app.ts'
import type { Config } from '../config.ts'
import type { SignIn } from '../features/identity/users/first-administrator.ts'

export const loadProgram = () => import('../app.ts')

/** Printed at the start. */
export const READ_ONLY = 'The instance is read-only: writes are refused, and no mail, webhook or job runs'

export interface Instance extends OpenedApp {
  /** The first administrator, if this start created it. */
  readonly firstSignIn: SignIn | null
}

/** The instance of the data folder, migrated and with its administrator. */
export async function openInstance(
  config: Config,
  { log = 'stdout', mustExist = false }: { log?: 'stdout' | 'stderr'; mustExist?: boolean } = {},
): Promise<Instance> {
  const { openApp } = await loadProgram()
  const { createFirstAdministrator } = await import('../features/identity/users/first-administrator.ts')
  const opened = await openApp(config, { mustExist, ...(log === 'stderr' ? { logTo: process.stderr } : {}) })
  try {
    return { ...opened, firstSignIn: config.readOnly ? null : await createFirstAdministrator(opened.app) }
  } catch (error) {
    await opened[Symbol.asyncDispose]()
    throw error
  }
}

/** How to sign in for the first time. Only a generated password is shown, here and never again. */
export function welcome({ username, password }: SignIn, { rootPassword, rootToken }: Config, url: string): string {
  const call = rootToken
    ? `curl --header "PRIVATE-TOKEN: $MORTISE_ROOT_TOKEN" ${url}/api/v4/user`
    : `curl --data login=${username} --data-urlencode password=${rootPassword ? '"$MORTISE_ROOT_PASSWORD"' : password} ${url}/api/v4/session`
  const chosen = 'with the password you set'
  return [
    `Administrator account: ${username}, ${rootPassword ? chosen : `password (shown only once): ${password}`}`,
    `Try: ${call}`,
  ].join('\n')
}

/** Runs after the start: creating the first host keys takes too long for a start. */
export async function printHostKeys({ data, sshPort }: Config): Promise<void> {
  if (sshPort === null) return
  const { hostKeyLines } = await import('../transport/ssh/host-keys.ts')
  try {
    console.log((await hostKeyLines(data)).join('\n'))
  } catch (error) {
    console.error(`mortise: the SSH host keys cannot be used: ${(error as Error).message}`)
  }
}
