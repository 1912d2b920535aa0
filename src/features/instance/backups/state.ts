import { DAY, MINUTE } from '../../../clock.ts'
import type { Config } from '../../../config.ts'
import type { BackupStatus } from '../../../store/backup-status.ts'

/** `off`: no backup is configured; `behind`: changes are missing; `unproven`: no restore was proven lately. */
export const BACKUP_STATES = ['off', 'ok', 'behind', 'unproven'] as const
export type BackupState = (typeof BACKUP_STATES)[number]

/** Captures are seconds apart. */
const BEHIND = 15 * MINUTE
/** Proofs are a day apart. */
const UNPROVEN = 2 * DAY

export function backupState(
  { backupUrl, backupVerify }: Pick<Config, 'backupUrl' | 'backupVerify'>,
  now: Date,
  { current_at, error, is_standby, verified_at, verify_error }: Omit<BackupStatus, 'verify_begun_at'>,
): BackupState {
  const isOlder = (at: string | null, ms: number) => at === null || now.getTime() - Date.parse(at) > ms
  if (backupUrl === null) return 'off'
  // Another server makes the backup, proves it and reports about it.
  if (is_standby) return error === null ? 'ok' : 'behind'
  if (error !== null || isOlder(current_at, BEHIND)) return 'behind'
  return backupVerify && (verify_error !== null || isOlder(verified_at, UNPROVEN)) ? 'unproven' : 'ok'
}
