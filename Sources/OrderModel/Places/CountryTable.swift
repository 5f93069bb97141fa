// SPDX-License-Identifier: Apache-2.0

// Written by scripts/code-tables; don't edit.

/// The country codes of two letters in Debian's package iso-codes: ISO 3166-1, and 3166-3 for withdrawn ones.
enum CountryTable {
    /// Assigned codes.
    static let current = """
        AD AE AF AG AI AL AM AO AQ AR AS AT AU AW AX AZ BA BB BD BE BF BG BH BI BJ BL BM BN BO BQ BR BS BT BV BW BY
        BZ CA CC CD CF CG CH CI CK CL CM CN CO CR CU CV CW CX CY CZ DE DJ DK DM DO DZ EC EE EG EH ER ES ET FI FJ FK
        FM FO FR GA GB GD GE GF GG GH GI GL GM GN GP GQ GR GS GT GU GW GY HK HM HN HR HT HU ID IE IL IM IN IO IQ IR
        IS IT JE JM JO JP KE KG KH KI KM KN KP KR KW KY KZ LA LB LC LI LK LR LS LT LU LV LY MA MC MD ME MF MG MH MK
        ML MM MN MO MP MQ MR MS MT MU MV MW MX MY MZ NA NC NE NF NG NI NL NO NP NR NU NZ OM PA PE PF PG PH PK PL PM
        PN PR PS PT PW PY QA RE RO RS RU RW SA SB SC SD SE SG SH SI SJ SK SL SM SN SO SR SS ST SV SX SY SZ TC TD TF
        TG TH TJ TK TL TM TN TO TR TT TV TW TZ UA UG UM US UY UZ VA VC VE VG VI VN VU WF WS YE YT ZA ZM ZW
        """

    /// Withdrawn codes that nobody else got, and the year of their end.
    static let withdrawn = """
        AN:2010 BU:1989 CS:2006 CT:1984 DD:1990 DY:1977 FQ:1979 FX:1997 HV:1984 JT:1986 MI:1986 NH:1980 NQ:1983
        NT:1993 PC:1986 PU:1986 PZ:1980 RH:1980 SU:1992 TP:2002 VD:1977 WK:1986 YD:1990 YU:2003 ZR:1997
        """
}
