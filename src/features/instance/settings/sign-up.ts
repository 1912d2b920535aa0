import type { Settings } from './model.ts'

/** Whether people may register themselves: with a password, by which they come in afterwards. */
export const isOpenToNewcomers = (settings: Settings): boolean =>
  settings.signup_enabled && settings.password_authentication_enabled
