/** The wording of validation errors that several kinds of records share. Clients compare these texts. */
export const BLANK = "can't be blank"
export const TAKEN = 'has already been taken'
export const tooLong = (most: number, unit = 'characters'): string => `is too long (maximum is ${most} ${unit})`
