import { z } from 'zod'
import { administratorsFirst, endpoint } from '../../../api/endpoint.ts'
import { entity } from '../../../api/wire.ts'
import { withoutSecrets } from '../../../lib/net/masked-url.ts'
import { readBackupStatus } from '../../../store/backup-status.ts'
import { BACKUP_STATES, backupState } from './state.ts'

const BackupEntity = entity({
  state: z.enum(BACKUP_STATES),
  url: z.string().nullable(),
  current_at: z.string().nullable(),
  captured_at: z.string().nullable(),
  verified_at: z.string().nullable(),
  verified_moment: z.string().nullable(),
  error: z.string().nullable(),
  verify_error: z.string().nullable(),
}).meta({ id: 'InstanceBackup' })

export const backup = endpoint({
  method: 'GET',
  path: '/application/backup',
  summary: 'Get the state of the continuous backup',
  ...administratorsFirst,
  output: BackupEntity,
  async handle({ app: { config, clock } }) {
    const { verify_begun_at: _, is_standby, ...status } = await readBackupStatus(config.data)
    const url = config.backupUrl === null ? null : withoutSecrets(config.backupUrl)
    return { state: backupState(config, clock.now(), { ...status, is_standby }), url, ...status }
  },
})
