/** Constants of the zip format, shared by reader and writer. */

export const LOCAL_HEADER = 0x04034b50
export const DIRECTORY_HEADER = 0x02014b50
export const DIRECTORY_END = 0x06054b50
export const DIRECTORY_END_64 = 0x06064b50
export const LOCATOR_64 = 0x07064b50
export const DATA_DESCRIPTOR = 0x08074b50

export const LOCAL_HEADER_SIZE = 30
export const DIRECTORY_HEADER_SIZE = 46
export const DIRECTORY_END_SIZE = 22
export const DIRECTORY_END_64_SIZE = 56
export const LOCATOR_64_SIZE = 20

export const STORED = 0
export const DEFLATED = 8

export const FLAG_ENCRYPTED = 0x1
export const FLAG_DESCRIPTOR = 0x8
export const FLAG_UTF8 = 0x800

/** Marks a field whose value is in the zip64 extra field instead. */
export const IN_EXTRA_32 = 0xffffffff
export const IN_EXTRA_16 = 0xffff

export const EXTRA_64 = 0x0001
export const EXTRA_TIMES = 0x5455

/** The creator of the archive: modes are those of Unix. */
export const MADE_ON_UNIX = 3

export const FILE_TYPE = 0o170000
export const REGULAR_FILE = 0o100000
export const FOLDER = 0o040000
export const SYMBOLIC_LINK = 0o120000
