import { HOUR } from '../../../clock.ts'
import { job } from '../../../context.ts'
import { currentSettings } from '../../instance/settings/queries.ts'
import { forget } from './service.ts'

/** Deletes addresses when they no longer count towards the limit. */
export const purgeAddresses = job(
  'addresses.purge',
  async (app) => {
    const { unique_ips_limit_enabled: isLimited, unique_ips_limit_time_window: seconds } = await currentSettings(app)
    await forget(app, isLimited ? seconds * 1000 : 0).execute()
  },
  { every: HOUR },
)
